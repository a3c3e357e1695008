// What came of pods that were placed by hand: a player beside the scheduler and the best there is.

import type { Outcome, Side } from "../../wire/classroom.ts";
import { inDigits } from "./amounts.ts";
import { w } from "./words.ts";

/** Whose it is, what it comes to, and what is said as long as that is not known. */
export interface Row {
  readonly name: string;
  readonly side: Side | null;
  readonly note: string;
}

/** The scheduler and the best there is, as far as that is known. */
export function rowsOf({ scheduler, best }: Outcome): Row[] {
  const names = { proven: "boardBest", found: "boardBestFound", unknown: "boardBestNotKnown" } as const;
  const name = best.state === "waiting" ? "boardBestNotKnown" : names[best.state];
  const note = best.state === "waiting" ? w("boardSearching") : w("boardNotKnown");
  return [
    { name: w("boardByScheduler"), side: scheduler, note: w("boardWaiting") },
    { name: w(name), side: best.side, note },
  ];
}

export function notesOf(outcome: Outcome | null): string[] {
  if (!outcome) return [];
  const { scheduler, best } = outcome;
  const hindrances = [...new Set([...(scheduler?.objections ?? []), ...best.not_comparable])];
  const found = hindrances.map((why) => w("boardNotComparable", { why }));
  return best.why ? [...found, best.why] : found;
}

export function worthOf({ worth }: Side): string {
  return worth === null ? w("boardNotKnown") : inDigits(worth);
}
