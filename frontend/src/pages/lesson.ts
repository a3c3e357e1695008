// The entry of a lesson's step that waits for the scheduler.

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
