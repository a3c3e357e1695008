// Short explanations shown when a term is hovered or focused: one tooltip for the whole page, that
// stays while the pointer is on it and goes with Escape.

import { termOf, type TermId } from "../glossary.ts";
import { onIdle } from "../idle.ts";
import type { Ms } from "../units.ts";
import type { Attachment } from "svelte/attachments";

const SHOW_AFTER_MS = 350;
const HIDE_AFTER_MS = 120;

/** Pixels between the element and its gloss, and between the gloss and the edge of the window. */
const GAP = 6;
const MARGIN = 8;

/** The first gloss waits for it; nothing before that needs it. */
const positioning = (): Promise<typeof import("@floating-ui/dom")> => import("@floating-ui/dom");

let bubble: HTMLElement | null = null;
let owner: Element | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let ids = 0;

/** Puts the explanation into the bubble. */
type Fill = (tip: HTMLElement) => void | Promise<void>;

/** Explain the element with a text; nothing if there is none. */
export const gloss =
  (text: string | null): Attachment<Element> =>
  (element) => {
    if (!text) return;
    element.setAttribute("aria-description", text);
    return explain(element, (tip) => void (tip.textContent = text));
  };

/** Explain the element with a term of the glossary; nothing if there is none. */
export const term =
  (id: TermId | undefined): Attachment<Element> =>
  (element) => {
    if (!id) return;
    onIdle(async () => element.setAttribute("aria-description", (await termOf(id)).text));
    return explain(element, (tip) => fillWithTerm(tip, id));
  };

async function fillWithTerm(tip: HTMLElement, id: TermId): Promise<void> {
  const { name, text, example, picture } = await termOf(id);
  const shown: Node[] = [line("strong", name), line("p", text)];
  if (example) shown.push(line("code", example));
  if (picture) shown.push(await (await import("./diagram.ts")).diagram(picture, id));
  tip.replaceChildren(...shown);
}

function line(tag: "strong" | "p" | "code", text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

/** Show the explanation while the element is hovered or focused; returns what ends it. */
function explain(element: Element, fill: Fill): () => void {
  const id = `gloss-${++ids}`;
  const show = (delay: number) => (): void => later(delay, () => void open(element, fill, id).catch(close));
  const hide = (): void => later(HIDE_AFTER_MS, close);
  const enter = show(SHOW_AFTER_MS);
  const focus = (): void => {
    if (element.matches(":focus-visible")) show(0)();
  };
  element.addEventListener("pointerenter", enter);
  element.addEventListener("pointerleave", hide);
  element.addEventListener("focus", focus);
  element.addEventListener("blur", hide);
  return () => {
    element.removeEventListener("pointerenter", enter);
    element.removeEventListener("pointerleave", hide);
    element.removeEventListener("focus", focus);
    element.removeEventListener("blur", hide);
    if (owner === element) close();
  };
}

function later(ms: Ms, action: () => void): void {
  clearTimeout(timer);
  timer = setTimeout(action, ms);
}

async function open(element: Element, fill: Fill, id: string): Promise<void> {
  if (!element.isConnected) return;
  const tip = (bubble ??= create());
  owner = element;
  await fill(tip);
  if (owner !== element) return;
  tip.id = id;
  tip.style.visibility = "hidden"; // it has to lie on the page to be measured
  tip.hidden = false;
  const { computePosition, flip, offset, shift } = await positioning();
  const middleware = [offset(GAP), flip({ padding: MARGIN }), shift({ padding: MARGIN })];
  const { x, y } = await computePosition(element, tip, { strategy: "fixed", placement: "bottom-start", middleware });
  if (owner !== element) return;
  tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  tip.style.visibility = "";
}

export function close(): void {
  clearTimeout(timer);
  owner = null;
  if (bubble) bubble.hidden = true;
}

function create(): HTMLElement {
  const tip = document.createElement("div");
  tip.className = "gloss-bubble";
  tip.setAttribute("role", "tooltip");
  tip.addEventListener("pointerenter", () => clearTimeout(timer));
  tip.addEventListener("pointerleave", () => later(HIDE_AFTER_MS, close));
  document.addEventListener("keydown", (event) => event.key === "Escape" && close());
  document.addEventListener("scroll", close, { capture: true, passive: true });
  (document.getElementById("explorer") ?? document.body).append(tip);
  return tip;
}
