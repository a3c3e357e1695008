// Nominations that come to nothing: a pod of higher priority makes room on the node, the node is deleted, others take
// the room, or the pod goes elsewhere or is deleted itself.

import type { Cycle, NodeIndex, PodIndex, Seq } from "../base/units.ts";
import type { Result } from "../wire/events.ts";
import { isPlaced } from "./cycle.ts";
import type { Fold } from "./fold.ts";
import type { Recording } from "./recording.svelte.ts";

/**
 * What made a nomination void: another's preemption cleared it, its node or its pod was deleted, others took the room,
 * or the pod went elsewhere.
 */
export type LossCause = "outbid" | "nodeDeleted" | "podDeleted" | "taken" | "elsewhere";

export interface Loss {
  readonly cause: LossCause;
  readonly node: NodeIndex;
  /** The cycle it was lost in, or after which. */
  readonly cycle: Cycle;
  /** Who took the room last, or outbid the pod; -1 for nobody. */
  readonly by: PodIndex;
  /** Where the pod is placed or nominated instead; -1 for nowhere. */
  readonly instead: NodeIndex;
}

/** How a nomination that was made at `from` was lost; null if it served or still holds. */
export function lossOf(fold: Fold, from: Seq, pod: PodIndex, node: NodeIndex): Loss | null {
  const end = endOf(fold, pod, node, from);
  if (end?.kind === "served") return null;
  if (end?.kind === "cleared") {
    const lost = fold.chronicle.cycleAt(end.seq);
    return { cause: "outbid", node, cycle: lost, by: fold.chronicle.pod.at(lost), instead: -1 };
  }
  const found = whatHappened(fold, node, pod, from, end?.seq ?? fold.trace.length);
  const at = (seq: Seq): Cycle => fold.chronicle.cycleAt(seq);
  const instead = end?.kind === "elsewhere" ? end.node : -1;
  if (found.deleted >= 0) return { cause: "nodeDeleted", node, cycle: at(found.deleted), by: -1, instead };
  if (!end) return null;
  if (end.kind === "podDeleted") return { cause: "podDeleted", node, cycle: at(end.seq), by: -1, instead };
  if (found.taken >= 0) return { cause: "taken", node, cycle: at(found.taken), by: found.by, instead };
  return { cause: "elsewhere", node, cycle: at(end.seq), by: -1, instead };
}

/** How a pod lost the last node that was nominated for it, by the moment shown; null if it lost none. */
export function lostByNow({ fold, state }: Recording, pod: PodIndex): Loss | null {
  const { chronicle } = fold;
  for (const seq of chronicle.eventsOfPod(pod, state.moment)) {
    const node = nominatedBy(fold, pod, seq);
    if (node >= 0) return state.nominatedNodeOf(pod) === node ? null : lossOf(fold, seq, pod, node);
  }
  return null;
}

/** The node that an event nominates for a pod: its own preemption does, or it comes so; -1 for none. */
function nominatedBy({ chronicle, trace }: Fold, pod: PodIndex, seq: Seq): NodeIndex {
  const event = trace.event(seq);
  if (event?.kind === "PodAdded") return event.nominated_node;
  const cycle = chronicle.cycleAt(seq);
  const isOwn = chronicle.pod.at(cycle) === pod && chronicle.preempted.at(cycle) === 1;
  return event?.kind === "NominationChanged" && isOwn ? event.node : -1;
}

/** How the time of a nomination ends, by what happens to its pod. */
type End =
  | { readonly kind: "served" | "cleared" | "failed" | "podDeleted"; readonly seq: Seq }
  | { readonly kind: "elsewhere"; readonly seq: Seq; readonly node: NodeIndex };

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
