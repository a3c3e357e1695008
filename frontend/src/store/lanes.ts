// The scheduling queue as lanes of pods, each in the order in which it will be served.

import type { TermId } from "../base/glossary.ts";
import type { Ms, PodIndex } from "../base/units.ts";
import { Queue, type CycleFinished, type QueueMoved } from "../wire/events.ts";
import { POD } from "./fold.ts";
import type { State } from "./state.ts";

/** Lanes from the pod being scheduled to those that wait longest. */
export const LANES = [
  Queue.IN_FLIGHT,
  Queue.WAITING_ON_PERMIT,
  Queue.BINDING,
  Queue.ACTIVE,
  Queue.BACKOFF,
  Queue.UNSCHEDULABLE,
  Queue.GATED,
] as const;

/** What the glossary calls each lane. */
export const QUEUE_TERMS: Partial<Record<Queue, TermId>> = {
  [Queue.IN_FLIGHT]: "in-flight",
  [Queue.WAITING_ON_PERMIT]: "waiting-on-permit",
  [Queue.BINDING]: "binding",
  [Queue.ACTIVE]: "active-queue",
  [Queue.BACKOFF]: "backoff-queue",
  [Queue.UNSCHEDULABLE]: "unschedulable-pods",
  [Queue.GATED]: "gated",
};

/** Lanes longer than this show their head only; the count is always exact. */
export const LANE_HEAD = 500;

export interface Lane {
  readonly queue: Queue;
  readonly count: number;
  /** In order; at most as many as were asked for. */
  readonly pods: readonly PodIndex[];
}

/** All lanes; `limit` says how many pods of each are put in order. */
export function lanes(state: State, limit = LANE_HEAD): Lane[] {
  const members = new Map<Queue, PodIndex[]>(LANES.map((queue) => [queue, []]));
  for (let pod = 0; pod < state.nPods; pod++) {
    const queue = state.queueOf(pod);
    if (queue !== Queue.NOWHERE) members.get(queue)?.push(pod);
  }
  return LANES.map((queue) => {
    const pods = members.get(queue)!;
    return { queue, count: pods.length, pods: head(pods, order(state, queue), limit) };
  });
}

/** How many pods wait for a node or for permission: one in its binding cycle waits no more. */
export const waiting = (all: readonly Lane[]): number =>
  all.reduce((sum, { queue, count }) => sum + (queue === Queue.BINDING ? 0 : count), 0);

type Order = (a: number, b: number) => number;

/** The first `limit` in order, without sorting all of a long lane. */
function head(pods: PodIndex[], before: Order, limit: number): number[] {
  if (pods.length <= limit) return pods.sort(before);
  let kept = pods.slice(0, limit).sort(before);
  let next: number[] = [];
  for (let i = limit; i < pods.length; i++) {
    if (before(pods[i]!, kept.at(-1)!) < 0) next.push(pods[i]!);
    if (next.length < limit && i < pods.length - 1) continue;
    kept = kept.concat(next).sort(before).slice(0, limit);
    next = [];
  }
  return kept;
}

function order(state: State, queue: Queue): Order {
  const movedFirst: Order = (a, b) => state.pod(a, POD.MOVE) - state.pod(b, POD.MOVE) || a - b;
  if (queue === Queue.ACTIVE) {
    const priority = (pod: PodIndex): number => state.podFacts(pod)?.priority ?? 0;
    return (a, b) => priority(b) - priority(a) || movedFirst(a, b);
  }
  if (queue === Queue.BACKOFF && state.count(queue) <= LANE_HEAD) {
    const until = (pod: PodIndex): number => backoffUntilMs(state, pod);
    return (a, b) => until(a) - until(b) || movedFirst(a, b);
  }
  if (queue === Queue.UNSCHEDULABLE) {
    return (a, b) => state.pod(b, POD.VERDICT) - state.pod(a, POD.VERDICT) || movedFirst(a, b);
  }
  return movedFirst;
}

/** The latest queue decision about a pod. */
export function moveOf(state: State, pod: PodIndex): QueueMoved | null {
  const seq = state.pod(pod, POD.MOVE) - 1;
  return seq < 0 ? null : state.fold.trace.eventOf(seq, "QueueMoved");
}

/** Whether a decision left the pod where it was: an event was weighed, and nothing came of it. */
export const stays = (move: QueueMoved): boolean => move.strategy === "skip" && move.event !== "ScheduleAttemptFailure";

/** How the pod's latest cycle ended. */
export function verdictOf(state: State, pod: PodIndex): CycleFinished | null {
  const seq = state.pod(pod, POD.VERDICT) - 1;
  return seq < 0 ? null : state.fold.trace.eventOf(seq, "CycleFinished");
}

/** When the pod's backoff ends, in milliseconds since the run started. */
export function backoffUntilMs(state: State, pod: PodIndex): Ms {
  const move = moveOf(state, pod);
  return move ? state.fold.chronicle.sinceStartMs(move.backoff_until_ns) : 0;
}

/** What holds a pod on Permit. */
export interface PermitWait {
  /** In the order in which they were asked. */
  readonly plugins: readonly number[];
  /** When the first of them gives up, in milliseconds since the run started. */
  readonly untilMs: Ms;
}

/** What holds the pod; null if nothing does. Each plugin that waits has an event, one after the other. */
export function permitWaitOf(state: State, pod: PodIndex): PermitWait | null {
  const last = state.pod(pod, POD.WAITING) - 1;
  if (last < 0) return null;
  const { trace, chronicle } = state.fold;
  const plugins: number[] = [];
  let untilMs = Infinity;
  for (let seq = last; seq >= 0; seq--) {
    const event = trace.event(seq);
    if (event?.kind !== "PermitWaiting" || event.pod !== pod) break;
    plugins.unshift(event.plugin);
    untilMs = Math.min(untilMs, chronicle.sinceStartMs(event.until_ns));
  }
  return { plugins, untilMs };
}
