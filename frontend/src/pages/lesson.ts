// The entry of a lesson's step that waits for the scheduler, or has handles to drag.

import { Leaving } from "../base/page.ts";
import { awaitStep } from "../views/waiting/step.ts";

const leaving = new Leaving();
// Before the page is left, what was pressed must not be taken out of it.
document.addEventListener("submit", () => (leaving.now = true));
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
const box = document.querySelector<HTMLElement>("[data-waits]");
if (box) void awaitStep(box.dataset.waits ?? "", leaving);
// A range says where it is dragged to.
document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.type !== "range") return;
  const said = target.parentElement?.querySelector("output");
  if (said) said.value = target.value;
});
