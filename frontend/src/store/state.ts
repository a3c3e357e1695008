// The run at one moment: what the views read. A thin reading of the fold's cells.

import type { Ms, NodeIndex, PodIndex, Seq } from "../base/units.ts";
import { OCCUPYING, Queue, type Cache, type Result } from "../wire/events.ts";
import { Memory } from "./cells.ts";
import { NODE, POD, RUN, type Fold, type NodeFacts, type PodFacts } from "./fold.ts";

const NONE: readonly NodeIndex[] = [];

export class State {
  private order: { seq: Seq; nodes: readonly NodeIndex[] } = { seq: -1, nodes: [] };

  constructor(
    readonly fold: Fold,
    private readonly memory = new Memory(fold.journal),
  ) {}

  /** How many events have happened. */
  get moment(): number {
    return this.memory.moment;
  }

  seek(moment: number): void {
    this.memory.seek(moment);
  }

  run(cell: number): number {
    return this.memory.cells[cell]!;
  }

  /** Milliseconds since the run started. */
  get timeMs(): Ms {
    const seq = this.run(RUN.CLOCK) - 1;
    return seq < 0 ? 0 : this.fold.chronicle.timeMs(seq);
  }

  get resources(): string[] {
    return this.fold.resources.slice(0, this.run(RUN.RESOURCES));
  }

  /** Node numbers in the order in which Filter examines them. */
  get nodeOrder(): readonly NodeIndex[] {
    const seq = this.run(RUN.ORDER) - 1;
    if (this.order.seq !== seq) {
      const nodes = seq < 0 ? [] : this.fold.trace.eventOf(seq, "NodeOrderChanged").nodes;
      this.order = { seq, nodes };
    }
    return this.order.nodes;
  }

  count(queue: Queue): number {
    return this.run(RUN.QUEUES + queue);
  }

  results(result: Result): number {
    return this.run(RUN.RESULTS + result);
  }

  // ---------------------------------------------------------------- pods

  get nPods(): number {
    return this.fold.podBase.length;
  }

  pod(pod: PodIndex, cell: number): number {
    const base = this.fold.podBase[pod];
    return base === undefined ? 0 : (this.memory.cells[base + cell] ?? 0);
  }

  podFacts(pod: PodIndex): PodFacts | undefined {
    return this.fold.podFacts[this.pod(pod, POD.FACTS) - 1];
  }

  /** The pod's node while it is assumed there, or bound and not finished; else -1. */
  nodeOf(pod: PodIndex): NodeIndex {
    return OCCUPYING.has(this.pod(pod, POD.CACHE) as Cache) ? this.pod(pod, POD.NODE) - 1 : -1;
  }

  nominatedNodeOf(pod: PodIndex): NodeIndex {
    return this.pod(pod, POD.NOMINATED) - 1;
  }

  queueOf(pod: PodIndex): Queue {
    return this.pod(pod, POD.QUEUE) as Queue;
  }

  /** All pods that exist now and satisfy the condition, in order of their numbers. */
  podsWhere(condition: (pod: PodIndex) => boolean): PodIndex[] {
    const found: PodIndex[] = [];
    for (let pod = 0; pod < this.nPods; pod++) {
      if (this.pod(pod, POD.FACTS) && condition(pod)) found.push(pod);
    }
    return found;
  }

  // ---------------------------------------------------------------- nodes

  /** All nodes there ever are, in the order in which they come. */
  get nodesSeen(): readonly NodeIndex[] {
    return this.fold.nodesSeen;
  }

  /** Those of them that the run does not have: they are tried. */
  get addedNodes(): readonly NodeIndex[] {
    return NONE;
  }

  nodeExists(node: NodeIndex): boolean {
    return this.node(node, NODE.FACTS) > 0;
  }

  nodeFacts(node: NodeIndex): NodeFacts | undefined {
    return this.fold.nodeFacts[this.node(node, NODE.FACTS) - 1];
  }

  nPodsOn(node: NodeIndex): number {
    return this.node(node, NODE.PODS);
  }

  requested(node: NodeIndex, resource: number): number {
    return this.memory.sums[resource]?.[node] ?? 0;
  }

  allocatable(node: NodeIndex, resource: number): number {
    return this.nodeFacts(node)?.allocatable[resource] ?? 0;
  }

  private node(node: NodeIndex, cell: number): number {
    const base = this.fold.nodeBase[node];
    return base === undefined ? 0 : (this.memory.cells[base + cell] ?? 0);
  }
}

/** Whether a pod was stopping already when something happened; `since` is the seq of that. */
export const wasLeaving = (state: State, pod: PodIndex, since: Seq): boolean =>
  state.pod(pod, POD.TERMINATING) === 1 && state.pod(pod, POD.EVICTION) <= since;

/** Whether a victim has lost its place without an eviction: it only waited on Permit. */
export const gaveWay = (state: State, pod: PodIndex): boolean =>
  state.podFacts(pod) !== undefined && state.nodeOf(pod) < 0 && !state.pod(pod, POD.EVICTION);
