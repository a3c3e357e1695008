// What nominated pods did to a cycle's Filter: twin of scheduler_core/trace/nominated.py.

import type { NodeIndex } from "../base/units.ts";
import type { NominatedPod, StatusRecord } from "../wire/events.ts";
import type { CycleDetail } from "./verdicts.ts";

/**
 * What nominated pods do to a node that is rejected. `rejects`: without them it would pass. `changes`: it would be
 * rejected as well, with another status. `needed`: it passes only with them, and Filter does not rely on their coming.
 */
export type Effect = "rejects" | "changes" | "needed";

/** The nominated pods that count on a node; `without` is how it would be rejected without them. */
export interface Nominated {
  readonly effect: Effect;
  readonly pods: readonly NominatedPod[];
  readonly without: StatusRecord | null;
}

/** What nominated pods do to a node; null if they make no difference there. */
export function nominatedOn({ nominated, statusOf, statuses }: CycleDetail, node: NodeIndex): Nominated | null {
  const found = nominated.get(node);
  if (!found) return null;
  const { pods, without } = found;
  if (!without) return { effect: "rejects", pods, without: null };
  const effect = statusOf[node] === without + 1 ? "needed" : "changes";
  return { effect, pods, without: statuses[without]! };
}
