// The line of a run's page about luck, until it is known.

import { pageAt, pause } from "../../base/page.ts";

const FIRST_MS = 1000;
const LONGEST_MS = 15_000;

export async function awaitLuck(text: HTMLElement): Promise<void> {
  for (let ms = FIRST_MS; ; ms = Math.min(1.5 * ms, LONGEST_MS)) {
    await pause(ms);
    const now = (await pageAt(location.href))?.querySelector<HTMLElement>(".luck");
    if (!now || "expected" in now.dataset) continue;
    text.replaceChildren(...now.childNodes);
    return;
  }
}
