// Reserve was undone, because a later step of a cycle has failed.

import type { Unreserved } from "../wire/events.ts";
import type { Explorer } from "./explorer.ts";
import type { CycleRecord } from "./record.ts";

/** The plugins that gave back what they had reserved for a cycle's pod, up to the moment shown; null if none did. */
export function unreserved({ fold, state }: Explorer, record: CycleRecord): Unreserved | null {
  for (const seq of fold.chronicle.eventsOfPod(record.started.pod, state.moment)) {
    const event = fold.trace.event(seq);
    if (event?.kind === "Unreserved") return event;
    if (event?.kind === "CycleStarted") return null;
  }
  return null;
}
