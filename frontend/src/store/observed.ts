// Cycles of a real scheduler that is observed: what it sent its extender, and that the rest is
// not known.

import type { Cycle, NodeIndex } from "../base/units.ts";
import type { EventRecorded } from "../wire/events.ts";
import type { CycleRecord, Draft, Point, Step } from "./record.ts";
import type { Fold } from "./fold.ts";
import type { Params, TextKey } from "../base/text/text.ts";

/** What is known of one point; `calls` says where the calls of each verb stand. */
export function observedStep(point: Point, draft: Draft, calls: ReadonlyMap<string, number>): Step {
  const called = (verb: string, flow: Step["flow"] = null): Step => {
    const seq = calls.get(verb) ?? -1;
    return { outcome: seq < 0 ? "unknown" : "passed", plugins: [], seq, flow: seq < 0 ? null : flow, status: null };
  };
  const call = draft.extenders.find(({ verb }) => verb === "prioritize");
  switch (point) {
    case "Filter":
      return filtered(draft, calls);
    case "Score":
      return called("prioritize", { into: call?.n_nodes_in ?? -1, out: -1 });
    case "PostFilter":
      return called("preempt");
    default:
      return called("");
  }
}

/** A call about evictions means that no node was left. */
function filtered(draft: Draft, calls: ReadonlyMap<string, number>): Step {
  const seq = calls.get("filter") ?? calls.get("prioritize") ?? calls.get("preempt") ?? -1;
  const out = draft.filter?.n_feasible;
  if (out === undefined) return { outcome: "unknown", plugins: [], seq, flow: null, status: null };
  return { outcome: out ? "passed" : "failed", plugins: [], seq, flow: { into: -1, out }, status: null };
}

/** One sentence about the cycle, or about a point of it. */
export function observedStory(record: CycleRecord, point: Point | null): { key: TextKey; params: Params } {
  const call = (verb: string): number | undefined => record.extenders.find((each) => each.verb === verb)?.n_nodes_in;
  const evicts = call("preempt");
  if (point === "Score") return { key: "observed.scores", params: { n: call("prioritize") ?? 0 } };
  if (point !== "Filter" && evicts !== undefined) return { key: "observed.evicts", params: { n: evicts } };
  return { key: "observed.passed", params: { n: record.filter?.n_feasible ?? 0 } };
}

/** What later calls say about the pod of a cycle; -1 and 0 for nothing. */
export interface Later {
  readonly node: NodeIndex;
  readonly nominated: number;
  /** The cycle of its next attempt. */
  readonly retriedIn: Cycle;
}

export function laterOf({ chronicle, trace }: Fold, record: CycleRecord): Later {
  let later: Later = { node: -1, nominated: -1, retriedIn: 0 };
  const after = chronicle.endMoment.at(record.number);
  for (const seq of chronicle.eventsOfPod(record.started.pod)) {
    if (seq < after) break;
    const event = trace.event(seq);
    if (event?.kind === "Bound") later = { ...later, node: event.node };
    if (event?.kind === "NominationChanged" && later.nominated < 0) later = { ...later, nominated: event.node };
    if (event?.kind === "CycleStarted" && event.attempt > record.started.attempt)
      later = { ...later, retriedIn: event.cycle };
  }
  return later;
}

/** The Events about a cycle's pod that came before its next cycle. */
export function eventsAfter({ chronicle, trace }: Fold, record: CycleRecord): EventRecorded[] {
  let found: EventRecorded[] = [];
  for (const seq of chronicle.eventsOfPod(record.started.pod)) {
    if (seq < chronicle.startSeq.at(record.number)) break;
    const event = trace.event(seq);
    if (event?.kind === "CycleStarted" && event.cycle > record.number) found = [];
    if (event?.kind === "EventRecorded") found = [event, ...found];
  }
  return found;
}
