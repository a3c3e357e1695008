// What nodes lack of what a pod requests: twin of scheduler_core/trace/shortages.py.

import { INSUFFICIENT, INSUFFICIENT_OTHERS, OCCUPYING, PODS, TOO_MANY_PODS, type Cache } from "../wire/events.ts";
import { POD } from "./fold.ts";
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

/** Which of the shortages count: all, or those that NodeResourcesFit gave as reasons. */
export type Named = ReadonlySet<string> | null;

/** The resources that reasons of NodeResourcesFit name; null: all. */
export function namedResources(reasons: readonly string[]): Named {
  if (reasons.includes(INSUFFICIENT_OTHERS)) return null;
  return new Set(
    reasons.flatMap((reason) =>
      reason === TOO_MANY_PODS ? [PODS] : reason.startsWith(INSUFFICIENT) ? [reason.slice(INSUFFICIENT.length)] : [],
    ),
  );
}

interface Kept {
  pods: number;
  readonly amounts: number[];
}

/** The room that nodes have for one pod at the moment of `state`. */
export class Room {
  private readonly resources: readonly string[];
  private readonly requests: readonly number[];
  private readonly places: number;
  private readonly nominated = new Map<number, Kept>();

  constructor(
    private readonly state: State,
    pod: number,
  ) {
    this.resources = state.resources;
    this.requests = state.podFacts(pod)?.requests ?? [];
    this.places = this.resources.indexOf(PODS);
    this.keepNominated(pod);
  }

  /** What the node lacks: places for pods first, then resources by their numbers. */
  shortages(node: number, named: Named): Shortage[] {
    const found: Shortage[] = [];
    this.visit(node, named, (resource, requested, free, allocatable, nominated) =>
      found.push({ resource, requested, free, allocatable, nominated }),
    );
    return found;
  }

  /** The parts of the request that are short, summed over resources; 0 if nothing is. */
  missing(node: number, named: Named): number {
    let sum = 0;
    this.visit(node, named, (_, requested, free, __, nominated) => {
      sum += (requested - (free - nominated)) / requested;
    });
    return sum;
  }

  private visit(
    node: number,
    named: Named,
    take: (resource: string, requested: number, free: number, allocatable: number, nominated: number) => void,
  ): void {
    const { state, resources, requests, places } = this;
    const facts = state.nodeFacts(node);
    if (!facts) return;
    const kept = this.nominated.get(node);
    const see = (resource: string, requested: number, used: number, allocatable: number, nominated: number): void => {
      const free = allocatable - used;
      if (requested <= free - nominated || (named && !named.has(resource))) return;
      take(resource, requested, free, allocatable, nominated);
    };
    if (places >= 0) see(PODS, 1, state.nPodsOn(node), facts.allocatable[places] ?? 0, kept?.pods ?? 0);
    for (let r = 0; r < requests.length; r++) {
      const amount = requests[r]!;
      if (amount <= 0) continue;
      see(resources[r]!, amount, state.requested(node, r), facts.allocatable[r] ?? 0, kept?.amounts[r] ?? 0);
    }
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
      const kept = this.nominated.get(node) ?? { pods: 0, amounts: [] };
      kept.pods++;
      facts.requests.forEach((amount, r) => (kept.amounts[r] = (kept.amounts[r] ?? 0) + amount));
      this.nominated.set(node, kept);
    }
  }
}
