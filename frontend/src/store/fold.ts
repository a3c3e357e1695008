// The fold over header events: twin of scheduler_core/trace/fold.py, kept in journalled cells so
// that any moment can be looked at. Both read the tables of scheduler_core/trace/tables.py and fold
// one fixture to the same states. Numbers that may be "none" are stored plus one.

import type { NodeIndex, PodIndex, Seq } from "../base/units.ts";
import {
  Cache,
  CACHE_AFTER,
  CHANGES,
  OCCUPYING,
  Queue,
  QUEUE_AFTER,
  Result,
  TERMINAL_PHASES,
  WAITING_QUEUES,
  type CycleFinished,
  type HeaderEvent,
  type NodeAdded,
  type NodeUpdated,
  type PodAdded,
  type RunStarted,
  type TaintRecord,
} from "../wire/events.ts";
import { Journal } from "./cells.ts";
import { Chronicle, UNFINISHED } from "./chronicle.ts";
import { Trace } from "./trace.ts";

export interface NodeFacts {
  readonly name: string;
  readonly zone: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly TaintRecord[];
  readonly unschedulable: boolean;
  readonly allocatable: readonly number[];
}

export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  /** `namespace/name` */
  readonly key: string;
  readonly scheduler_name: string;
  readonly owner: string;
  readonly priority: number;
  /** The name of its class; empty for a pod of none, and in older traces. */
  readonly priority_class: string;
  readonly requests: readonly number[];
  readonly phase: string;
}

/** What a pod's cells hold, by offset. */
export const POD = {
  FACTS: 0,
  QUEUE: 1,
  NODE: 2,
  NOMINATED: 3,
  CACHE: 4,
  ATTEMPTS: 5,
  CYCLE: 6,
  MOVE: 7,
  VERDICT: 8,
  EVICTION: 9,
  WAITING: 10,
  TERMINATING: 11,
} as const;
const POD_CELLS = 12;

export const NODE = { FACTS: 0, PODS: 1 } as const;
const NODE_CELLS = 2;

const N_QUEUES = Object.keys(Queue).length;
/** Cells of the run as a whole. */
export const RUN = {
  RUN: 0,
  FINISHED: 1,
  CLOCK: 2,
  RESOURCES: 3,
  ORDER: 4,
  CYCLE: 5,
  CYCLE_END: 6,
  BOUND: 7,
  EVICTED: 8,
  RESULTS: 9,
  QUEUES: 9 + Object.keys(Result).length,
} as const;
const RUN_CELLS = RUN.QUEUES + N_QUEUES;

type Kind = HeaderEvent["kind"];
/** The events that change something, by the table; the compiler wants a handler for each, and no other. */
type Changing = { [K in Kind]: (typeof CHANGES)[K] extends readonly [] ? never : K }[Kind];
type Handlers = {
  readonly [K in Changing]: (event: Extract<HeaderEvent, { kind: K }>, seq: Seq) => void;
};

/** What the cache has of a pod as the API server has it: a finished one is on no node. */
export const cacheOf = (node: NodeIndex, phase: string): Cache =>
  node >= 0 && !TERMINAL_PHASES.has(phase) ? Cache.ADDED : Cache.ABSENT;

/** The newest moment: takes events, and remembers what every one of them changed. */
export class Fold {
  readonly trace = new Trace();
  readonly journal = new Journal();
  readonly chronicle = new Chronicle();
  /** How the run began; null before its first event is here. */
  run: RunStarted | null = null;
  readonly resources: string[] = [];
  readonly nodeFacts: NodeFacts[] = [];
  readonly podFacts: PodFacts[] = [];
  readonly podBase: number[] = [];
  readonly nodeBase: number[] = [];
  /** The latest names, also of what is gone. */
  readonly podNames: string[] = [];
  readonly nodeNames: string[] = [];
  /** Where in `nodeFacts` the latest facts of a node are. */
  readonly latestFacts: number[] = [];
  /** Node numbers in order of first appearance: the stable order of the map. */
  readonly nodesSeen: number[] = [];
  private readonly orders: number[] = [];
  private readonly strings = new Map<string, string>();
  private readonly amounts = new Map<string, readonly number[]>();

  constructor() {
    this.journal.allocate(RUN_CELLS);
  }

  /** A real scheduler decides; the trace has what it reported. */
  get observed(): boolean {
    return this.run?.observed ?? false;
  }

  /** Take a chunk of uncompressed headers; returns how many events were new. */
  append(headers: Uint8Array): number {
    const from = this.trace.length;
    this.trace.append(headers);
    for (let seq = from; seq < this.trace.length; seq++) this.apply(seq, this.trace.event(seq));
    return this.trace.length - from;
  }

  /** The seq of the latest NodeOrderChanged up to an event; -1 if there was none. */
  orderAt(seq: Seq): number {
    return this.orders.findLast((order) => order <= seq) ?? -1;
  }

  private apply(seq: Seq, event: HeaderEvent | null): void {
    if (event) {
      const handle = (this.handlers as Partial<Record<Kind, (e: HeaderEvent, seq: Seq) => void>>)[event.kind];
      handle?.call(this, event, seq);
    }
    this.journal.commit();
    this.chronicle.note(seq, event, this.countWaiting);
  }

  private readonly countWaiting = (): number =>
    WAITING_QUEUES.reduce<number>((sum, queue) => sum + this.journal.read(RUN.QUEUES + queue), 0);

  private readonly handlers: Handlers = {
    RunStarted: (event, seq) => {
      this.run = event;
      this.journal.write(RUN.RUN, seq + 1);
    },
    RunFinished: (_, seq) => this.journal.write(RUN.FINISHED, seq + 1),
    ClockAdvanced: (_, seq) => this.journal.write(RUN.CLOCK, seq + 1),
    ResourcesDefined: (event) => {
      this.resources.push(...event.names);
      this.journal.write(RUN.RESOURCES, this.resources.length);
    },
    NodeAdded: (event) => this.setNode(event, event.name),
    NodeUpdated: (event) => this.setNode(event, this.nodeNames[event.node] ?? ""),
    NodeDeleted: (event) => this.journal.write(this.nodeCell(event.node, NODE.FACTS), 0),
    NodeOrderChanged: (_, seq) => {
      this.journal.write(RUN.ORDER, seq + 1);
      this.orders.push(seq);
    },
    PodAdded: (event) => this.addPod(event),
    PodUpdated: (event) => {
      const known = this.podFacts[this.get(event.pod, POD.FACTS) - 1]!;
      this.occupy(event.pod, -1);
      if (TERMINAL_PHASES.has(known.phase) !== TERMINAL_PHASES.has(event.phase)) {
        this.set(event.pod, POD.CACHE, cacheOf(this.get(event.pod, POD.NODE) - 1, event.phase));
      }
      this.setPodFacts(event.pod, {
        ...known,
        priority: event.priority,
        requests: this.sharedAmounts(event.requests),
        phase: this.shared(event.phase),
      });
      this.set(event.pod, POD.TERMINATING, event.terminating ? 1 : 0);
      this.occupy(event.pod, 1);
    },
    PodDeleted: (event) => {
      this.occupy(event.pod, -1);
      this.enqueue(event.pod, Queue.NOWHERE);
      for (let cell = 0; cell < POD_CELLS; cell++) this.set(event.pod, cell, 0);
    },
    PodEvicted: (event, seq) => {
      this.set(event.pod, POD.EVICTION, seq + 1);
      this.set(event.pod, POD.TERMINATING, 1);
      this.journal.add(RUN.EVICTED, 1);
    },
    QueueMoved: (event, seq) => {
      if (!this.exists(event.pod)) return;
      this.enqueue(event.pod, event.queue);
      this.set(event.pod, POD.MOVE, seq + 1);
    },
    NominationChanged: (event) => {
      if (this.exists(event.pod)) this.set(event.pod, POD.NOMINATED, event.node + 1);
    },
    CycleStarted: (event, seq) => {
      this.journal.write(RUN.CYCLE, seq + 1);
      this.journal.write(RUN.CYCLE_END, 0);
      this.enqueue(event.pod, Queue.IN_FLIGHT);
      this.set(event.pod, POD.ATTEMPTS, event.attempt);
      this.set(event.pod, POD.CYCLE, event.cycle);
    },
    CycleFinished: (event, seq) => this.finishCycle(event, seq),
    Assumed: (event) => this.place(event.pod, event.node, CACHE_AFTER.Assumed),
    Forgotten: (event) => this.place(event.pod, -1, CACHE_AFTER.Forgotten),
    PointFinished: (event) => {
      if (event.point === "Permit" && event.status.code === "Success") {
        this.enqueue(event.pod, Queue.BINDING);
      }
    },
    PermitWaiting: (event, seq) => {
      this.enqueue(event.pod, Queue.WAITING_ON_PERMIT);
      this.set(event.pod, POD.WAITING, seq + 1);
    },
    PermitResolved: (event) => {
      this.set(event.pod, POD.WAITING, 0);
      if (event.decision === "allow") this.enqueue(event.pod, Queue.BINDING);
    },
    Bound: (event) => {
      this.place(event.pod, event.node, CACHE_AFTER.Bound);
      this.enqueue(event.pod, Queue.NOWHERE);
      this.set(event.pod, POD.NOMINATED, 0);
      this.journal.add(RUN.BOUND, 1);
    },
  };

  // A cycle that waited on Permit, or whose binding fails, ends again; another one may be running.
  private finishCycle(event: CycleFinished, seq: Seq): void {
    const running = this.journal.read(RUN.CYCLE) - 1;
    const pod = this.chronicle.pod.at(event.cycle);
    if (running >= 0 && this.chronicle.startSeq.at(event.cycle) === running) {
      this.journal.write(RUN.CYCLE_END, seq + 1);
    }
    this.journal.add(RUN.RESULTS + event.result, 1);
    if (!this.exists(pod)) return;
    const before = this.chronicle.result.at(event.cycle);
    if (before !== UNFINISHED) this.journal.add(RUN.RESULTS + before, -1);
    this.set(pod, POD.VERDICT, seq + 1);
    if (this.get(pod, POD.QUEUE) === Queue.IN_FLIGHT) this.enqueue(pod, QUEUE_AFTER[event.result]);
  }

  private setNode(event: NodeAdded | NodeUpdated, name: string): void {
    this.nodeNames[event.node] = name;
    const labels: Record<string, string> = {};
    for (const [key, value] of Object.entries(event.labels)) labels[key] = this.shared(value);
    this.nodeFacts.push({
      name,
      zone: this.shared(event.zone),
      labels,
      taints: event.taints,
      unschedulable: event.unschedulable,
      allocatable: this.sharedAmounts(event.allocatable),
    });
    this.latestFacts[event.node] = this.nodeFacts.length - 1;
    this.journal.write(this.nodeCell(event.node, NODE.FACTS), this.nodeFacts.length);
  }

  private addPod(event: PodAdded): void {
    this.setPodFacts(event.pod, {
      namespace: this.shared(event.namespace),
      name: event.name,
      key: (this.podNames[event.pod] = `${event.namespace}/${event.name}`),
      scheduler_name: this.shared(event.scheduler_name),
      owner: this.shared(event.owner),
      priority: event.priority,
      priority_class: event.priority_class,
      requests: this.sharedAmounts(event.requests),
      phase: this.shared(event.phase),
    });
    this.set(event.pod, POD.NOMINATED, event.nominated_node + 1);
    this.set(event.pod, POD.TERMINATING, event.terminating ? 1 : 0);
    if (event.node >= 0) this.place(event.pod, event.node, cacheOf(event.node, event.phase));
  }

  private setPodFacts(pod: PodIndex, facts: PodFacts): void {
    this.podFacts.push(facts);
    this.set(pod, POD.FACTS, this.podFacts.length);
  }

  private place(pod: PodIndex, node: NodeIndex, cache: Cache): void {
    this.occupy(pod, -1);
    this.set(pod, POD.NODE, node + 1);
    this.set(pod, POD.CACHE, cache);
    this.occupy(pod, 1);
  }

  /** Add the pod to its node's usage (`sign` 1) or take it off (-1). */
  private occupy(pod: PodIndex, sign: 1 | -1): void {
    const node = this.get(pod, POD.NODE) - 1;
    const cache = this.get(pod, POD.CACHE);
    const facts = this.podFacts[this.get(pod, POD.FACTS) - 1];
    if (node < 0 || !OCCUPYING.has(cache as Cache) || !facts) return;
    this.journal.add(this.nodeCell(node, NODE.PODS), sign);
    facts.requests.forEach((amount, resource) => {
      this.journal.addToSum(resource, node, sign * amount);
    });
  }

  private enqueue(pod: PodIndex, queue: Queue): void {
    const before = this.get(pod, POD.QUEUE);
    if (before === queue) return;
    this.journal.add(RUN.QUEUES + before, -1);
    this.journal.add(RUN.QUEUES + queue, 1);
    this.set(pod, POD.QUEUE, queue);
  }

  private exists(pod: PodIndex): boolean {
    return pod >= 0 && this.podBase[pod] !== undefined && this.get(pod, POD.FACTS) > 0;
  }

  private get(pod: PodIndex, cell: number): number {
    return this.journal.read(this.podCell(pod) + cell);
  }

  private set(pod: PodIndex, cell: number, value: number): void {
    this.journal.write(this.podCell(pod) + cell, value);
  }

  private podCell(pod: PodIndex): number {
    return (this.podBase[pod] ??= this.journal.allocate(POD_CELLS));
  }

  private nodeCell(node: NodeIndex, cell: number): number {
    if (this.nodeBase[node] === undefined) {
      this.nodeBase[node] = this.journal.allocate(NODE_CELLS);
      this.nodesSeen.push(node);
    }
    return this.nodeBase[node] + cell;
  }

  // Clusters repeat themselves: 50,000 pods share a few hundred strings and request lists.
  private shared(text: string): string {
    const known = this.strings.get(text);
    if (known !== undefined) return known;
    this.strings.set(text, text);
    return text;
  }

  private sharedAmounts(amounts: readonly number[]): readonly number[] {
    const key = amounts.join();
    const known = this.amounts.get(key);
    if (known) return known;
    this.amounts.set(key, amounts);
    return amounts;
  }
}
