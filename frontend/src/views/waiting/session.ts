// A session whose scheduler has not called yet: the page with its calls once it has.

import { documentAt, type Leaving, pause } from "../../base/page.ts";

const PAUSE_MS = 2000;

export async function awaitCalls(address: string, leaving: Leaving): Promise<void> {
  for (;;) {
    const run = await documentAt<{ readonly cycles: number }>(address);
    if (run && run.cycles > 0 && !leaving.now) {
      location.reload();
      return;
    }
    await pause(PAUSE_MS);
  }
}
