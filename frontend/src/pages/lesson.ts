// The entry of a lesson's step: its picture, waiting for the scheduler, and handles to drag.

import { mount } from "svelte";

import { Leaving } from "../base/page.ts";
import StepPicture from "../views/classroom/StepPicture.svelte";
import { awaitStep } from "../views/waiting/step.ts";
import type { Picture } from "../wire/classroom.ts";

const leaving = new Leaving();
// Before the page is left, what was pressed must not be taken out of it.
document.addEventListener("submit", () => (leaving.now = true));
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
const box = document.querySelector<HTMLElement>("[data-waits]");
if (box) void awaitStep(box.dataset.waits ?? "", leaving).then(draw);
draw();
// A range says where it is dragged to.
document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.type !== "range") return;
  const said = target.parentElement?.querySelector("output");
  if (said) said.value = target.value;
});

function draw(): void {
  const target = document.querySelector<HTMLElement>("[data-picture]");
  const carried = document.getElementById("picture")?.textContent;
  if (!target || !carried) return;
  const options = [...document.querySelectorAll<HTMLInputElement>(".question input[type=radio]")];
  mount(StepPicture, {
    target,
    props: { picture: JSON.parse(carried) as Picture, right: target.dataset.right ?? "", options },
  });
}
