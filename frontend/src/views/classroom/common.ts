// What all three pages of a class show: the step, the picture, the connection, and one live region.

import type { ClassState, LinkState } from "../../wire/classroom.ts";
import { el, marked, place, w } from "./page.ts";
import { SceneInPlace } from "./scene.svelte.ts";

export const step = place("step");
const mapPlace = place("map");
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

export const map = new SceneInPlace();

/** The picture, which lives as long as the page; with a chosen node, and whether one can be tapped. */
export function showMap(state: ClassState, chosen = "", canTap = false): void {
  const { picture } = state;
  mapPlace.show([picture !== null, state.is_waiting], () => {
    if (!picture) return state.is_waiting ? [el("p", {}, w("waiting"))] : [];
    return [map.root];
  });
  if (picture) map.show(picture, state.marks, chosen, canTap);
}
