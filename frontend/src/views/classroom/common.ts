// What all three pages of a class show: the step, the small map, the connection, and one live region.

import type { ClassState, LinkState, Picture } from "../../wire/classroom.ts";
import { SmallMap, stateInWords } from "./map.ts";
import { el, marked, place, w } from "./page.ts";

export const step = place("step");
const mapPlace = place("map");
const list = place("nodes");
const live = document.querySelector<HTMLElement>("[data-live]")!;
const lost = document.querySelector<HTMLElement>("[data-lost]");

/** Say something to those who listen; one thing at a time, the latest counts. */
export function say(text: string): void {
  live.textContent = text;
}

export function showLink(state: LinkState): void {
  if (!lost) return;
  const isUp = state === "up";
  const text = isUp ? w("back") : w(state);
  if (lost.hidden === isUp && (isUp || lost.textContent === text)) return;
  lost.hidden = isUp;
  lost.textContent = text;
  say(text);
}

export function stepName({ number, n_steps }: ClassState): string {
  return n_steps ? w("step", { n: number, all: n_steps }) : w("stepOnly", { n: number });
}

export function showStep(state: ClassState): void {
  step.show([state.number, state.step_title, state.text, state.explains, state.n_steps], () => [
    el("p", { class: "eyebrow" }, `${state.title} · ${stepName(state)}`),
    el("h1", { id: "step-title", tabindex: "-1" }, state.step_title),
    marked(state.text),
    state.explains && marked(state.explains),
  ]);
}

export const map = new SmallMap();

/** The map, and the same in a list, for who cannot see or point at it. */
export function showMap(state: ClassState, chosen = "", open = false): void {
  const { picture } = state;
  mapPlace.show([picture !== null, picture?.cycle, picture?.pod, picture?.waiting, state.is_waiting], () => {
    if (!picture) return state.is_waiting ? [el("p", {}, w("waiting"))] : [];
    return [el("p", { class: "class__cycle" }, headOf(picture)), map.root];
  });
  if (picture) map.show(picture, state.marks, chosen);
  list.show(picture && [picture, open], () => (picture ? [nodeList(picture, open)] : []));
}

function headOf({ cycle, pod, waiting }: Picture): string {
  const head = pod ? w("pod", { cycle, pod }) : "";
  const rest = waiting.filter((name) => name !== pod);
  return [head, rest.length ? w("waitingPods", { pods: rest.join(", ") }) : ""].filter(Boolean).join(" · ");
}

function nodeList(picture: Picture, open: boolean): HTMLElement {
  const rows = picture.nodes.map((node) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", class: "mono" }, node.name),
      el("td", {}, node.zone),
      el("td", {}, w("podsHere", { n: node.n_pods })),
      el("td", {}, stateInWords(node)),
    ),
  );
  const drawn = picture.nodes.length;
  const details = el("details", {}, el("summary", {}, w("list")), el("table", {}, el("tbody", {}, ...rows)));
  if (drawn < picture.n_nodes) details.append(el("p", {}, w("moreNodes", { n: drawn, all: picture.n_nodes })));
  details.open = open;
  return details;
}
