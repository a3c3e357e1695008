// From the answer to a preview to what the Explorer shows: the cycle, its columns, and the run as it would have been
// when the cycle began.

import type { NodeIndex, PodIndex } from "../base/units.ts";
import { Cache, TERMINAL_PHASES, type Bound, type HeaderEvent, type NodeAdded, type PodAdded } from "../wire/events.ts";
import type { Preview } from "../wire/preview.ts";
import type { Memory } from "./cells.ts";
import { retold } from "./cycle.ts";
import { cacheOf, POD, type Fold, type NodeFacts, type PodFacts } from "./fold.ts";
import type { CycleRecord } from "./record.ts";
import type { Tried } from "./recording.svelte.ts";
import { State } from "./state.ts";
import { detailOf } from "./verdicts.ts";

/**
 * What is shown of a preview; null if there was no cycle. `memory` is taken to where the cycle began, and what is
 * returned reads it: the next answer about the same cycle finds it there.
 */
export function previewed(
  fold: Fold,
  memory: Memory,
  recorded: CycleRecord,
  { world, events, details }: Preview,
): Tried | null {
  if (!events.length) return null;
  memory.seek(recorded.seqs[0] ?? 0);
  const record = retold(fold, recorded, events);
  const state = new ChangedState(fold, memory, world);
  return { record, detail: detailOf(details, record, state.nodeOrder), state, events: [...world, ...events] };
}

/** What the pods that come or go take of a node. */
interface Usage {
  nPods: number;
  readonly requests: number[];
}

/** The cells of a pod that is gone. */
const GONE: readonly number[] = [];

/** The run just before a cycle began, with what changes did to its nodes and pods. */
class ChangedState extends State {
  private readonly nodes = new Map<NodeIndex, NodeFacts>();
  private readonly pods = new Map<PodIndex, PodFacts>();
  private changedOrder: readonly NodeIndex[] | null = null;
  private readonly moreResources: string[] = [];
  private readonly added: NodeIndex[] = [];
  private readonly deleted = new Set<NodeIndex>();
  /** The cells of pods that come, move or go; a pod that comes has its facts in `pods`. */
  private readonly podCells = new Map<PodIndex, readonly number[]>();
  private podsUpTo = 0;
  /** By how much pods take more or less of a node than at that moment of the run. */
  private readonly usage = new Map<NodeIndex, Usage>();

  constructor(fold: Fold, memory: Memory, world: readonly HeaderEvent[]) {
    super(fold, memory);
    for (const event of world) this.take(event);
  }

  private take(event: HeaderEvent): void {
    if (event.kind === "NodeUpdated") this.nodes.set(event.node, { ...super.nodeFacts(event.node)!, ...event });
    else if (event.kind === "NodeAdded") this.add(event);
    else if (event.kind === "NodeDeleted") this.deleted.add(event.node);
    else if (event.kind === "PodAdded") this.addPod(event);
    else if (event.kind === "PodUpdated") this.changePod(event.pod, { ...this.podFacts(event.pod)!, ...event });
    else if (event.kind === "PodDeleted") this.setCells(event.pod, GONE);
    else if (event.kind === "Bound") this.place(event);
    else if (event.kind === "ResourcesDefined") this.moreResources.push(...event.names);
    else if (event.kind === "NodeOrderChanged") this.changedOrder = event.nodes;
  }

  private add({ kind: _, node, ...facts }: NodeAdded): void {
    this.nodes.set(node, facts);
    if (!this.fold.nodesSeen.includes(node)) this.added.push(node);
  }

  private addPod({ pod, node, nominated_node, kind: _, ...facts }: PodAdded): void {
    this.pods.set(pod, { ...facts, key: `${facts.namespace}/${facts.name}` });
    const cells: number[] = [];
    cells[POD.FACTS] = 1;
    cells[POD.NODE] = node + 1;
    cells[POD.NOMINATED] = nominated_node + 1;
    cells[POD.CACHE] = cacheOf(node, facts.phase);
    this.setCells(pod, cells);
  }

  private changePod(pod: PodIndex, facts: PodFacts): void {
    this.occupy(pod, -1);
    if (TERMINAL_PHASES.has(facts.phase)) {
      const cells = Object.values(POD).map((cell) => this.pod(pod, cell));
      cells[POD.CACHE] = Cache.ABSENT;
      this.podCells.set(pod, cells);
    }
    this.pods.set(pod, facts);
    this.occupy(pod, 1);
  }

  private place({ pod, node }: Bound): void {
    const cells = Object.values(POD).map((cell) => this.pod(pod, cell));
    cells[POD.NODE] = node + 1;
    cells[POD.CACHE] = Cache.ADDED;
    this.setCells(pod, cells);
  }

  private setCells(pod: PodIndex, cells: readonly number[]): void {
    this.occupy(pod, -1);
    this.podCells.set(pod, cells);
    this.podsUpTo = Math.max(this.podsUpTo, pod + 1);
    this.occupy(pod, 1);
  }

  /** Add what a pod takes of its node (`sign` 1), or take it off (-1), as the fold does. */
  private occupy(pod: PodIndex, sign: 1 | -1): void {
    const [node, facts] = [this.nodeOf(pod), this.podFacts(pod)];
    if (node < 0 || !facts) return;
    const usage = this.usage.get(node) ?? { nPods: 0, requests: [] };
    usage.nPods += sign;
    facts.requests.forEach((amount, r) => (usage.requests[r] = (usage.requests[r] ?? 0) + sign * amount));
    this.usage.set(node, usage);
  }

  override get nodesSeen(): readonly NodeIndex[] {
    return this.added.length ? [...super.nodesSeen, ...this.added] : super.nodesSeen;
  }

  override get addedNodes(): readonly NodeIndex[] {
    return this.added;
  }

  override nodeExists(node: NodeIndex): boolean {
    return !this.deleted.has(node) && (this.nodes.has(node) || super.nodeExists(node));
  }

  override get resources(): string[] {
    return [...super.resources, ...this.moreResources];
  }

  override get nodeOrder(): readonly NodeIndex[] {
    return this.changedOrder ?? super.nodeOrder;
  }

  override nodeFacts(node: NodeIndex): NodeFacts | undefined {
    return this.nodes.get(node) ?? super.nodeFacts(node);
  }

  override nPodsOn(node: NodeIndex): number {
    return super.nPodsOn(node) + (this.usage.get(node)?.nPods ?? 0);
  }

  override requested(node: NodeIndex, resource: number): number {
    return super.requested(node, resource) + (this.usage.get(node)?.requests[resource] ?? 0);
  }

  override pod(pod: PodIndex, cell: number): number {
    const cells = this.podCells.get(pod);
    return cells ? (cells[cell] ?? 0) : super.pod(pod, cell);
  }

  override get nPods(): number {
    return Math.max(this.podsUpTo, super.nPods);
  }

  override podFacts(pod: PodIndex): PodFacts | undefined {
    if (!this.pod(pod, POD.FACTS)) return undefined;
    return this.pods.get(pod) ?? super.podFacts(pod);
  }
}
