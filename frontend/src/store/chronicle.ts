// When things happened: which events make up each cycle, what time it was, which events concern a
// pod, and the moments worth a flag on the timeline. Grows with the trace, never changes.

import { inWords } from "../base/text/said.ts";
import type { Cycle, Ms, Ns, PodIndex, Seq } from "../base/units.ts";
import { countUpTo, Vector } from "../base/vector.ts";
import type { HeaderEvent } from "../wire/events.ts";

/** `cycle` is the one in whose story the moment belongs: what happens between two is the later's. */
export interface Flag {
  kind: "scenario" | "eviction";
  seq: Seq;
  cycle: Cycle;
  text: string;
}

/** Cycles count from 1; index 0 of every column stands for the time before the first. */
export class Chronicle {
  nCycles = 0;
  readonly flags: Flag[] = [];
  readonly startSeq = Vector.int32();
  /** How many events have happened when the cycle is over and the world has not moved on yet. */
  readonly endMoment = Vector.int32();
  readonly pod = Vector.int32();
  readonly attempt = Vector.int32();
  readonly node = Vector.int32();
  readonly nFeasible = Vector.int32();
  readonly nNodes = Vector.int32();
  /** A `Result`, or 255 while the cycle runs. */
  readonly result = Vector.uint8();
  /** 1 if the cycle nominated a node or evicted pods. */
  readonly preempted = Vector.uint8();
  /** Pods that wait (active, backoff, unschedulable, gated) after the cycle. */
  readonly waiting = Vector.int32();
  private readonly clockSeq = Vector.int32();
  private readonly clockMs = Vector.float64();
  private readonly previousOfPod = Vector.int32();
  private readonly lastOfPod = Vector.int32();
  private originNs: Ns | null = null;
  private isOpen = true;
  private isRunning = false;

  constructor() {
    this.addCycle(0, -1, 0, 0);
    this.result.data[0] = UNFINISHED;
  }

  /** Milliseconds since the run started, at the time of an event. */
  timeMs(seq: Seq): Ms {
    const n = countUpTo(this.clockSeq, seq);
    return n ? this.clockMs.at(n - 1) : 0;
  }

  /** Milliseconds since the run started, from nanoseconds since the epoch. */
  sinceStartMs(ns: Ns): Ms {
    return this.originNs === null ? 0 : Number(ns - this.originNs) / 1e6;
  }

  /** The instant the run started at, in milliseconds since the epoch. */
  get originMs(): Ms {
    return this.originNs === null ? 0 : Number(this.originNs / 1_000_000n);
  }

  /** The cycle that is running or was the latest at an event; 0 before the first. */
  cycleAt(seq: Seq): Cycle {
    return countUpTo(this.startSeq, seq) - 1;
  }

  /** Seqs of the events about a pod before `moment`, newest first. */
  *eventsOfPod(pod: PodIndex, moment = Infinity): Generator<Seq> {
    let at = pod < this.lastOfPod.length ? this.lastOfPod.at(pod) - 1 : -1;
    for (; at >= 0; at = this.previousOfPod.at(at) - 1) {
      if (at < moment) yield at;
    }
  }

  note(seq: Seq, event: HeaderEvent | null, waiting: () => number): void {
    this.previousOfPod.push(0);
    if (!event) return;
    this.noteTime(seq, event);
    this.noteCycle(seq, event);
    this.notePods(seq, event);
    if (event.kind === "ScenarioStepped") this.flag("scenario", seq, inWords(event.text, event.said));
    if (event.kind === "PodEvicted") {
      this.flag("eviction", seq, inWords(event.reason, event.said));
      this.preempted.data[this.nCycles] = 1;
    }
    if (this.isOpen) {
      this.endMoment.data[this.nCycles] = seq + 1;
      this.waiting.data[this.nCycles] = waiting();
    }
  }

  private noteTime(seq: Seq, event: HeaderEvent): void {
    if (event.kind === "RunStarted") this.originNs = event.now_ns;
    if (event.kind === "ClockAdvanced") {
      this.clockSeq.push(seq);
      this.clockMs.push(this.sinceStartMs(event.now_ns));
    }
  }

  private noteCycle(seq: Seq, event: HeaderEvent): void {
    switch (event.kind) {
      case "CycleStarted":
        this.addCycle(seq, event.pod, event.attempt, event.n_nodes);
        this.isOpen = this.isRunning = true;
        return;
      case "FilterFinished":
        this.nFeasible.data[this.nCycles] = event.n_feasible;
        return;
      case "CycleFinished":
        this.result.data[event.cycle] = event.result;
        this.node.data[event.cycle] = event.node;
        if (event.cycle === this.nCycles) this.isRunning = false;
        return;
      case "ClockAdvanced":
      case "ScenarioStepped":
      case "RunFinished":
        if (!this.isRunning && this.nCycles) this.isOpen = false;
        return;
      case "PreemptionDecided":
        if (event.winner >= 0) this.preempted.data[this.nCycles] = 1;
    }
  }

  private notePods(seq: Seq, event: HeaderEvent): void {
    if (event.kind === "CycleFinished") this.chain(seq, this.pod.at(event.cycle));
    else if ("pod" in event) this.chain(seq, event.pod);
  }

  private chain(seq: Seq, pod: PodIndex): void {
    if (pod < 0) return;
    this.lastOfPod.resize(pod + 1);
    this.previousOfPod.data[seq] = this.lastOfPod.at(pod);
    this.lastOfPod.data[pod] = seq + 1;
  }

  private addCycle(seq: Seq, pod: PodIndex, attempt: number, nNodes: number): void {
    this.startSeq.push(seq);
    this.pod.push(pod);
    this.attempt.push(attempt);
    this.nNodes.push(nNodes);
    this.node.push(-1);
    this.nFeasible.push(-1);
    this.endMoment.push(seq);
    this.result.push(UNFINISHED);
    this.preempted.push(0);
    this.waiting.push(0);
    this.nCycles = this.startSeq.length - 1;
  }

  private flag(kind: Flag["kind"], seq: Seq, text: string): void {
    const cycle = this.nCycles + (this.isOpen ? 0 : 1);
    this.flags.push({ kind, seq, cycle, text });
  }
}

export const UNFINISHED = 255;
