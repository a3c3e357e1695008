// What is here of the run, and the moment of it that is shown.

import type { Cycle, NodeIndex, PodIndex, Seq } from "../base/units.ts";
import type { HeaderEvent, RunStarted } from "../wire/events.ts";
import { Fold } from "./fold.ts";
import { cycleRecord } from "./cycle.ts";
import { ShortNames } from "./node-domain.ts";
import type { CycleRecord } from "./record.ts";
import { State } from "./state.ts";
import { cycleDetail, type CycleDetail } from "./verdicts.ts";
import { Explanations, why, type Why } from "./why.ts";

const RECORDS_CACHED = 300;

/** What is shown of a cycle in place of what was recorded: what became of it under changes. */
export interface Tried {
  readonly record: CycleRecord;
  readonly detail: CycleDetail;
  /** The run when the cycle began, with the changes; null where they are none of its objects. */
  readonly state: State | null;
  /** The events of that: what the changes do, and then the cycle. Those of the run where `state` is null. */
  readonly events: readonly HeaderEvent[] | null;
}

export class Recording {
  readonly #fold = new Fold();
  readonly #state = new State(this.#fold);
  // Fold and state are large and change in place. Two numbers say when: how many events are here, and how
  // many of them have happened at the moment shown. Who reads `fold` or `state` reads its number with it.
  #length = $state(0);
  #moment = $state(0);
  readonly #explanations = new Explanations(this.#fold);
  readonly #records = new Map<Cycle, CycleRecord>();
  readonly #podNumbers = new Map<string, PodIndex>();
  #podNumbersUpTo = 0;
  readonly #shortNames = new ShortNames();

  /** Where changes are tried; null while nobody does. */
  lab = $state.raw<{ readonly tried: Tried | null } | null>(null);
  /** What is tried, as the address has it; empty while the Lab is closed. */
  changes = $state("");

  /** What is tried of the cycle shown; null: it is shown as it was recorded. */
  get tried(): Tried | null {
    return this.lab?.tried ?? null;
  }

  /** All that is here; read it again wherever a component has to follow it. */
  get fold(): Fold {
    void this.#length;
    return this.#fold;
  }

  /** The run at the moment shown; likewise. */
  get state(): State {
    void this.#moment;
    return this.tried?.state ?? this.#state;
  }

  /** The run at that moment as it was, whatever is tried. */
  get happened(): State {
    void this.#moment;
    return this.#state;
  }

  get nCycles(): number {
    return this.fold.chronicle.nCycles;
  }

  /** Take a chunk of headers; returns the last seq that is now here. */
  protected append(headers: Uint8Array): Seq {
    this.#records.delete(this.#fold.chronicle.nCycles);
    this.#fold.append(headers);
    this.#length = this.#fold.trace.length;
    return this.#length - 1;
  }

  /** Show the run when `moment` events have happened. */
  seek(moment: number): void {
    this.#state.seek(moment);
    this.#moment = moment;
  }

  /** The cycle at which one sees an event: what happens between two shows at the later. */
  cycleShowing(seq: Seq): Cycle {
    const { chronicle } = this.fold;
    const cycle = chronicle.cycleAt(seq);
    const late = seq >= chronicle.endMoment.at(cycle) && cycle < chronicle.nCycles;
    return late ? cycle + 1 : cycle;
  }

  /** What a cycle was; null for 0, the time before the first. */
  record(cycle: Cycle): CycleRecord | null {
    const { nCycles } = this;
    if (cycle < 1 || cycle > nCycles) return null;
    const cached = this.#records.get(cycle);
    if (cached) return cached;
    const record = cycleRecord(this.#fold, cycle);
    if (cycle < nCycles) this.#records.set(cycle, record);
    if (this.#records.size > RECORDS_CACHED) this.#records.delete(this.#records.keys().next().value!);
    return record;
  }

  /** The detail of a cycle from its bytes. */
  decodeDetail(cycle: Cycle, bytes: Uint8Array): CycleDetail {
    const seq = this.#fold.orderAt(this.#fold.chronicle.startSeq.at(cycle));
    const order = seq < 0 ? [] : this.#fold.trace.eventOf(seq, "NodeOrderChanged").nodes;
    return cycleDetail(bytes, this.record(cycle)!, order);
  }

  /** What became of a cycle's nodes, and why; without the detail its counts only. */
  why(record: CycleRecord, detail: CycleDetail | null): Why {
    const { tried } = this;
    if (tried?.state && record === tried.record) return why(record, detail, tried.state);
    return this.#explanations.why(record, detail);
  }

  /** What the run said of itself at its beginning; null before that is here. */
  get run(): RunStarted | null {
    return this.fold.run;
  }

  // ---------------------------------------------------------------- names

  pluginName(plugin: number): string {
    return this.fold.run?.plugins[plugin] ?? "";
  }

  pluginNumber(name: string): number {
    return this.fold.run?.plugins.indexOf(name) ?? -1;
  }

  /** The latest name under which a pod or node was known; it may be gone by now. */
  podKey(pod: PodIndex): string {
    return this.state.podFacts(pod)?.key ?? this.fold.podNames[pod] ?? "";
  }

  nodeName(node: NodeIndex): string {
    return this.state.nodeFacts(node)?.name ?? this.fold.nodeNames[node] ?? "";
  }

  /** Its name without the domain that all nodes share, where the full one has no room. */
  shortNodeName(node: NodeIndex): string {
    return this.#shortNames.of(this.nodeName(node), this.fold.nodeNames);
  }

  podNumber(key: string): PodIndex {
    const names = this.fold.podNames;
    for (; this.#podNumbersUpTo < names.length; this.#podNumbersUpTo++) {
      const name = names[this.#podNumbersUpTo];
      if (name) this.#podNumbers.set(name, this.#podNumbersUpTo);
    }
    return this.#podNumbers.get(key) ?? -1;
  }

  nodeNumber(name: string): NodeIndex {
    return this.fold.nodeNames.indexOf(name);
  }
}
