// Nominations that come to nothing without being cleared by a greater preemption: the node is deleted, somebody takes
// the room, or the pod goes elsewhere or is deleted itself.

import type { Cycle, NodeIndex, PodIndex, Seq } from "../base/units.ts";
import type { Result } from "../wire/events.ts";
import { isPlaced } from "./cycle.ts";
import type { Fold } from "./fold.ts";

/** What made a nomination void: its node or its pod was deleted, others took the room, or the pod went elsewhere. */
export type LossCause = "nodeDeleted" | "podDeleted" | "taken" | "elsewhere";

export interface Loss {
  readonly cause: LossCause;
  readonly node: NodeIndex;
  /** The cycle it was lost in, or after which. */
  readonly cycle: Cycle;
  /** Who took the room last; -1 for nobody. */
  readonly by: PodIndex;
  /** Where the pod is placed or nominated instead; -1 for nowhere. */
  readonly instead: NodeIndex;
}

/** How the nomination that a preemption made in `cycle` was lost; null if it served, still holds, or was cleared. */
export function lossOf(fold: Fold, cycle: Cycle, pod: PodIndex, node: NodeIndex): Loss | null {
  const from = nominatedAt(fold, cycle, pod, node);
  const end = endOf(fold, pod, node, from);
  if (end?.kind === "served" || end?.kind === "cleared") return null;
  const found = whatHappened(fold, node, pod, from, end?.seq ?? fold.trace.length);
  const at = (seq: Seq): Cycle => fold.chronicle.cycleAt(seq);
  const instead = end?.kind === "elsewhere" ? end.node : -1;
  if (found.deleted >= 0) return { cause: "nodeDeleted", node, cycle: at(found.deleted), by: -1, instead };
  if (!end) return null;
  if (end.kind === "podDeleted") return { cause: "podDeleted", node, cycle: at(end.seq), by: -1, instead };
  if (found.taken >= 0) return { cause: "taken", node, cycle: at(found.taken), by: found.by, instead };
  return { cause: "elsewhere", node, cycle: at(end.seq), by: -1, instead };
}

/** How the time of a nomination ends, by what happens to its pod. */
type End =
  | { readonly kind: "served" | "cleared" | "failed" | "podDeleted"; readonly seq: Seq }
  | { readonly kind: "elsewhere"; readonly seq: Seq; readonly node: NodeIndex };

function nominatedAt({ chronicle, trace }: Fold, cycle: Cycle, pod: PodIndex, node: NodeIndex): Seq {
  for (let seq = chronicle.startSeq.at(cycle); seq < trace.length; seq++) {
    const event = trace.event(seq);
    if (event?.kind === "NominationChanged" && event.pod === pod && event.node === node) return seq;
  }
  return trace.length;
}

function endOf({ chronicle, trace }: Fold, pod: PodIndex, node: NodeIndex, from: Seq): End | null {
  const later = [...chronicle.eventsOfPod(pod)].filter((seq) => seq > from).reverse();
  for (const seq of later) {
    const event = trace.event(seq);
    if (event?.kind === "PodDeleted") return { kind: "podDeleted", seq };
    if (event?.kind === "Assumed" || event?.kind === "Bound") {
      return event.node === node ? { kind: "served", seq } : { kind: "elsewhere", seq, node: event.node };
    }
    if (event?.kind !== "NominationChanged" || event.node === node) continue;
    if (event.node >= 0) return { kind: "elsewhere", seq, node: event.node };
    // It is cleared in another pod's cycle by a greater preemption, in its own when it is placed or fails.
    const cycle = chronicle.cycleAt(seq);
    if (chronicle.pod.at(cycle) !== pod) return { kind: "cleared", seq };
    if (!isPlaced(chronicle.result.at(cycle) as Result)) return { kind: "failed", seq };
  }
  return null;
}

/** When the node was deleted, and who came to it last; -1 for never. */
function whatHappened(
  { trace }: Fold,
  node: NodeIndex,
  pod: PodIndex,
  from: Seq,
  to: Seq,
): { deleted: Seq; taken: Seq; by: PodIndex } {
  const found = { deleted: -1, taken: -1, by: -1 };
  for (let seq = from; seq < to; seq++) {
    const event = trace.event(seq);
    if (event?.kind === "NodeDeleted" && event.node === node) found.deleted = seq;
    if (event?.kind !== "Assumed" || event.node !== node || event.pod === pod) continue;
    found.taken = seq;
    found.by = event.pod;
  }
  return found;
}
