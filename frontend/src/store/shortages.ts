// What nodes lack of what a pod requests: twin of scheduler_core/trace/shortages.py.

import {
  INSUFFICIENT,
  INSUFFICIENT_OTHERS,
  OCCUPYING,
  PODS,
  TOO_MANY_PODS,
  type Cache,
  type NominatedOnNode,
} from "../wire/events.ts";
import { POD, type NodeFacts } from "./fold.ts";
import type { State } from "./state.ts";

/** Cpu in milli, others in bytes or units; `nominated` of what is free is kept for nominated pods. */
export interface Shortage {
  readonly resource: string;
  readonly requested: number;
  readonly free: number;
  readonly allocatable: number;
  readonly nominated: number;
}

export const shortBy = ({ requested, free, nominated }: Shortage): number => requested - (free - nominated);

/**
 * What a node may be short of, counted as *slots*: 0 is a place for a pod, r + 1 the resource r. A mask says
 * by slot which shortages count; null: all.
 */
export type Mask = readonly boolean[] | null;

interface Kept {
  pods: number;
  readonly amounts: number[];
}

/**
 * The room that nodes have for one pod at the moment of `state`. `counted` are nodes with the nominated pods that
 * Filter is known to have counted there; on the others count those that the state knows.
 */
export class Room {
  private readonly resources: readonly string[];
  private readonly requests: readonly number[];
  private readonly places: number;
  private readonly nominated = new Map<number, Kept>();

  constructor(
    private readonly state: State,
    pod: number,
    counted: ReadonlyMap<number, NominatedOnNode>,
  ) {
    this.resources = state.resources;
    this.requests = state.podFacts(pod)?.requests ?? [];
    this.places = this.resources.indexOf(PODS);
    this.keepNominated(pod);
    for (const { node, pods } of counted.values()) {
      this.nominated.delete(node);
      for (const { requests } of pods) this.keep(node, requests);
    }
  }

  /** The slots that NodeResourcesFit names as reasons. */
  named(reasons: readonly string[]): Mask {
    if (reasons.includes(INSUFFICIENT_OTHERS)) return null;
    const given = new Set(reasons);
    return [given.has(TOO_MANY_PODS), ...this.resources.map((resource) => given.has(INSUFFICIENT + resource))];
  }

  /** What the node lacks: places for pods first, then resources by their numbers. */
  shortages(node: number, mask: Mask): Shortage[] {
    const facts = this.state.nodeFacts(node);
    if (!facts) return [];
    const found: Shortage[] = [];
    for (let slot = 0; slot <= this.requests.length; slot++) {
      if (mask && !mask[slot]) continue;
      const requested = this.wanted(slot);
      if (!requested || this.short(node, facts, slot) <= 0) continue;
      found.push({
        resource: slot ? this.resources[slot - 1]! : PODS,
        requested,
        free: this.allocatable(facts, slot) - this.used(node, slot),
        allocatable: this.allocatable(facts, slot),
        nominated: this.kept(node, slot),
      });
    }
    return found;
  }

  /** The parts of the request that are short, summed over slots; 0 if nothing is. */
  missing(node: number, mask: Mask): number {
    const facts = this.state.nodeFacts(node);
    if (!facts) return 0;
    let sum = 0;
    for (let slot = 0; slot <= this.requests.length; slot++) {
      if (mask && !mask[slot]) continue;
      const requested = this.wanted(slot);
      if (!requested) continue;
      const short = this.short(node, facts, slot);
      if (short > 0) sum += short / requested;
    }
    return sum;
  }

  private short(node: number, facts: NodeFacts, slot: number): number {
    return this.wanted(slot) - (this.allocatable(facts, slot) - this.used(node, slot) - this.kept(node, slot));
  }

  /** 0 where the pod wants nothing, or places are not counted. */
  private wanted(slot: number): number {
    return slot ? this.requests[slot - 1]! : this.places < 0 ? 0 : 1;
  }

  private allocatable(facts: NodeFacts, slot: number): number {
    return facts.allocatable[slot ? slot - 1 : this.places] ?? 0;
  }

  private used(node: number, slot: number): number {
    return slot ? this.state.requested(node, slot - 1) : this.state.nPodsOn(node);
  }

  private kept(node: number, slot: number): number {
    if (!this.nominated.size) return 0;
    const kept = this.nominated.get(node);
    return (slot ? kept?.amounts[slot - 1] : kept?.pods) ?? 0;
  }

  /** Pods that Filter counts on a node because they are nominated to it, and no less important. */
  private keepNominated(pod: number): void {
    const { state } = this;
    const priority = state.podFacts(pod)?.priority;
    if (priority === undefined) return;
    for (let other = 0; other < state.nPods; other++) {
      const node = state.nominatedNodeOf(other);
      if (node < 0 || other === pod || OCCUPYING.has(state.pod(other, POD.CACHE) as Cache)) continue;
      const facts = state.podFacts(other);
      if (!facts || facts.priority < priority) continue;
      this.keep(node, facts.requests);
    }
  }

  private keep(node: number, requests: readonly number[]): void {
    const kept = this.nominated.get(node) ?? { pods: 0, amounts: [] };
    kept.pods++;
    requests.forEach((amount, r) => (kept.amounts[r] = (kept.amounts[r] ?? 0) + amount));
    this.nominated.set(node, kept);
  }
}
