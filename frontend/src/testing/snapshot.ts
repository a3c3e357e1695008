// A State in the shape in which Python prints its own, to compare the two folds.

import { POD, RUN } from "../store/fold.ts";
import type { State } from "../store/state.ts";
import { Result } from "../wire/events.ts";

type Plain = Record<string, unknown>;

export function snapshot(state: State): Plain {
  const { trace, chronicle } = state.fold;
  const row = (cell: number): unknown => (cell ? trace.row(cell - 1) : null);
  const clockNs = (seq: number): number => {
    const run = trace.eventOf(0, "RunStarted");
    return Number(run.now_ns + BigInt(Math.round(chronicle.timeMs(seq) * 1e6)));
  };
  return {
    run: row(state.run(RUN.RUN)),
    finished: row(state.run(RUN.FINISHED)),
    now_ns: clockNs(state.moment - 1),
    resources: state.resources,
    nodes: nodes(state),
    usage: usage(state),
    node_order: state.nodeOrder,
    pods: pods(state, row, clockNs),
    cycle: cycle(state, row),
    results: Object.values(Result).map((result) => state.results(result)),
    n_bound: state.run(RUN.BOUND),
    n_evicted: state.run(RUN.EVICTED),
  };
}

function nodes(state: State): Plain {
  const found: Plain = {};
  for (const node of state.nodesSeen) {
    const facts = state.nodeFacts(node);
    if (facts) found[node] = { ...facts, taints: facts.taints.map((t) => [t.key, t.value, t.effect]) };
  }
  return found;
}

function usage(state: State): Plain {
  const found: Plain = {};
  for (const node of state.nodesSeen) {
    if (!state.nPodsOn(node)) continue;
    const requested = state.resources.map((_, resource) => state.requested(node, resource));
    found[node] = { n_pods: state.nPodsOn(node), requested };
  }
  return found;
}

function pods(state: State, row: (cell: number) => unknown, clockNs: (seq: number) => number): Plain {
  const found: Plain = {};
  for (const pod of state.podsWhere(() => true)) {
    const facts: Plain = { ...state.podFacts(pod)! };
    delete facts.key;
    const at = (cell: number): number => (cell ? clockNs(cell - 1) : 0);
    found[pod] = {
      ...facts,
      terminating: state.pod(pod, POD.TERMINATING) === 1,
      node: state.pod(pod, POD.NODE) - 1,
      nominated_node: state.nominatedNodeOf(pod),
      cache: state.pod(pod, POD.CACHE),
      queue: state.queueOf(pod),
      attempts: state.pod(pod, POD.ATTEMPTS),
      cycle: state.pod(pod, POD.CYCLE),
      move: row(state.pod(pod, POD.MOVE)),
      moved_at_ns: at(state.pod(pod, POD.MOVE)),
      verdict: row(state.pod(pod, POD.VERDICT)),
      verdict_at_ns: at(state.pod(pod, POD.VERDICT)),
      eviction: row(state.pod(pod, POD.EVICTION)),
      waiting: row(state.pod(pod, POD.WAITING)),
    };
  }
  return found;
}

function cycle(state: State, row: (cell: number) => unknown): Plain | null {
  const start = state.run(RUN.CYCLE);
  if (!start) return null;
  const firstEnd = firstFinish(state, start);
  const steps: unknown[] = [];
  for (let seq = start; seq < Math.min(firstEnd, state.moment); seq++) {
    if (state.fold.trace.event(seq)?.kind !== "CycleFinished") steps.push(row(seq + 1));
  }
  return { started: row(start), steps, finished: row(state.run(RUN.CYCLE_END)) };
}

/** The seq at which the cycle that began at event `start` - 1 ended for the first time. */
function firstFinish(state: State, start: number): number {
  const { trace } = state.fold;
  const { cycle } = trace.eventOf(start - 1, "CycleStarted");
  for (let seq = start; seq < trace.length; seq++) {
    const event = trace.event(seq);
    if (event?.kind === "CycleFinished" && event.cycle === cycle) return seq;
  }
  return trace.length;
}
