// The diagrams of the glossary, to be shown and to be lit.

import "../../../../static/css/diagram.css";
import cache from "../../../../kviz/common/glossary/cache.svg?raw";
import cycles from "../../../../kviz/common/glossary/cycles.svg?raw";
import queues from "../../../../kviz/common/glossary/queues.svg?raw";
import type { DiagramName, TermId } from "../glossary.ts";

const SOURCES: Readonly<Record<DiagramName, string>> = { cache, cycles, queues };

/** A diagram as an element of its own; the part of a term, if one is given, is lit. */
export function diagram(name: DiagramName, lit?: TermId): SVGSVGElement {
  const frame = document.createElement("template");
  frame.innerHTML = SOURCES[name];
  const picture = frame.content.querySelector("svg")!;
  if (lit) picture.querySelector(`[data-term="${lit}"]`)?.classList.add("lit");
  return picture;
}
