// A run that has just ended: why its pods are pending is said without values until a worker has looked. This puts the
// causes with values in the place of the others as soon as they are there.

import { pageAt, pause } from "../../base/page.ts";

const PAUSE_MS = 1000;
const ATTEMPTS = 30;

export async function awaitCauses(): Promise<void> {
  for (let i = 0; i < ATTEMPTS; i++) {
    await pause(PAUSE_MS);
    const page = await pageAt(location.href);
    if (!page || page.querySelector("[data-causes-expected]")) continue;
    replace(page);
    return;
  }
}

function replace(page: Document): void {
  for (const old of document.querySelectorAll<HTMLElement>("[data-causes]")) {
    const found = page.querySelector(`[data-causes="${old.dataset.causes}"]`);
    if (found && !old.contains(document.activeElement)) old.replaceWith(document.adoptNode(found));
  }
}
