// Preemptions that follow from one another: who was evicted comes back and evicts in turn, or
// loses a nomination and has to make room elsewhere.

import type { Cycle, PodIndex, Seq } from "../base/units.ts";
import type { HeaderEvent } from "../wire/events.ts";
import type { Fold } from "./fold.ts";
import { lossOf, type Loss } from "./loss.ts";

/**
 * How a preemption came after another: its pod `returned`, was `outbid` on its node, or makes room `again`, the
 * room it made before being lost.
 */
export type Link = "returned" | "outbid" | "again";

export interface Preemption {
  readonly cycle: Cycle;
  readonly preemptor: PodIndex;
  readonly victims: readonly PodIndex[];
  /** The preemption this one follows from, and how; null for one that starts by itself. */
  readonly after: { readonly cycle: Cycle; readonly link: Link } | null;
}

export interface Branch {
  readonly preemption: Preemption;
  /** How the nomination was lost; null if it was not. */
  readonly loss: Loss | null;
  readonly then: readonly Branch[];
}

/** All preemptions of the run that evicted pods, in order. */
export function preemptions(fold: Fold): Preemption[] {
  const found: Preemption[] = [];
  const owners = new Map(fold.podFacts.map((facts) => [facts.key, facts.owner]));
  const ownerOf = (pod: PodIndex): string => owners.get(fold.podNames[pod] ?? "") ?? "";
  const evictedFrom = new Map<string, number>();
  const outbidIn = new Map<number, number>();
  const latestOf = new Map<number, number>();
  for (const [cycle, { preemptor, victims }] of evictions(fold)) {
    found.push({ cycle, preemptor, victims, after: origin(preemptor) });
    for (const victim of victims) {
      evictedFrom.set(`#${victim}`, cycle);
      if (ownerOf(victim)) evictedFrom.set(ownerOf(victim), cycle);
    }
    latestOf.set(preemptor, cycle);
    for (const pod of outbid(fold, cycle, preemptor)) outbidIn.set(pod, cycle);
  }
  return found;

  function origin(preemptor: PodIndex): Preemption["after"] {
    const lost = outbidIn.get(preemptor);
    const before = latestOf.get(preemptor) ?? 0;
    if (lost !== undefined && lost > before) return { cycle: lost, link: "outbid" };
    if (before) return { cycle: before, link: "again" };
    const owner = ownerOf(preemptor);
    const back = evictedFrom.get(`#${preemptor}`) ?? (owner ? evictedFrom.get(owner) : undefined);
    return back === undefined ? null : { cycle: back, link: "returned" };
  }
}

/** The cascade that a cycle's preemption belongs to; null if it stands alone. */
export function cascadeOf(fold: Fold, cycle: Cycle): Branch | null {
  const all = preemptions(fold);
  const byCycle = new Map(all.map((preemption) => [preemption.cycle, preemption]));
  let root = byCycle.get(cycle);
  if (!root) return null;
  for (let above = root.after; above; above = root.after) root = byCycle.get(above.cycle)!;
  const tree = branch(fold, root, all);
  return tree.then.length || tree.loss ? tree : null;
}

function branch(fold: Fold, preemption: Preemption, all: readonly Preemption[]): Branch {
  const next = all.filter((other) => other.after?.cycle === preemption.cycle);
  return {
    preemption,
    loss: lossIn(fold, preemption),
    then: next.map((other) => branch(fold, other, all)),
  };
}

/** How the node that a preemption nominated was lost. */
function lossIn(fold: Fold, { cycle, preemptor }: Preemption): Loss | null {
  for (const [seq, event] of eventsOf(fold, cycle)) {
    if (event?.kind === "NominationChanged" && event.pod === preemptor && event.node >= 0) {
      return lossOf(fold, seq, preemptor, event.node);
    }
  }
  return null;
}

/** Victims by cycle, each with the pod they made way for. */
function evictions(fold: Fold): Map<number, { preemptor: PodIndex; victims: PodIndex[] }> {
  const byCycle = new Map<number, { preemptor: PodIndex; victims: PodIndex[] }>();
  for (const flag of fold.chronicle.flags) {
    if (flag.kind !== "eviction") continue;
    const { pod, by_pod } = fold.trace.eventOf(flag.seq, "PodEvicted");
    if (by_pod < 0) continue;
    const entry = byCycle.get(flag.cycle) ?? { preemptor: by_pod, victims: [] };
    entry.victims.push(pod);
    byCycle.set(flag.cycle, entry);
  }
  return byCycle;
}

/** Pods that lost their nomination in a cycle to its preemptor. */
export function* outbid(fold: Fold, cycle: Cycle, preemptor: PodIndex): Generator<PodIndex> {
  for (const [, event] of eventsOf(fold, cycle)) {
    if (event?.kind === "NominationChanged" && event.node < 0 && event.pod !== preemptor) yield event.pod;
  }
}

/** The events from a cycle's start to that of the next, with their seqs. */
function* eventsOf({ chronicle, trace }: Fold, cycle: Cycle): Generator<[Seq, HeaderEvent | null]> {
  const end = cycle < chronicle.nCycles ? chronicle.startSeq.at(cycle + 1) : trace.length;
  for (let seq = chronicle.startSeq.at(cycle); seq < end; seq++) yield [seq, trace.event(seq)];
}
