// The diagrams of the glossary, to be shown and to be lit.

import "../../../../static/css/diagram.css";
import cache from "../../../../kviz/reference/drawings/cache.svg?raw";
import cycles from "../../../../kviz/reference/drawings/cycles.svg?raw";
import queues from "../../../../kviz/reference/drawings/queues.svg?raw";
import type { DiagramName, TermId } from "../glossary.ts";
import { glossaryCatalogue, type Catalogue } from "../text/language.ts";

const SOURCES: Readonly<Record<DiagramName, string>> = { cache, cycles, queues };

/** A diagram as an element of its own, in the language of the page; the part of a term, if one is given, is lit. */
export async function diagram(name: DiagramName, lit?: TermId): Promise<SVGSVGElement> {
  const frame = document.createElement("template");
  frame.innerHTML = SOURCES[name];
  const picture = frame.content.querySelector("svg")!;
  label(picture, await glossaryCatalogue());
  if (lit) picture.querySelector(`[data-term="${lit}"]`)?.classList.add("lit");
  return picture;
}

/** What keys of labels begin with among the translations of the glossary. */
const GROUP = "diagram";

/** Puts translations in the labels' place; one breaks its lines itself. */
export function label(picture: SVGSVGElement, translated: Catalogue): void {
  const of = (words: string): string => translated[`${GROUP}.${words}`] ?? "";
  picture.ariaLabel = of(picture.ariaLabel ?? "") || picture.ariaLabel;
  for (const element of picture.querySelectorAll("text")) {
    const lines = [element, ...element.children].flatMap((each) => each.firstChild ?? []);
    const text = of(lines.map((line) => line.textContent).join(" "));
    if (!text) continue;
    for (const [i, line] of lines.entries()) line.textContent = text.split("\n")[i] ?? "";
  }
}
