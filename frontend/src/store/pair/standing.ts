// One side at the moment shown, in numbers that both sides share, and what is different between the two.

import { ShortNames } from "../node-domain.ts";
import type { Placed } from "./placed.ts";

/** A pod that waits, and one that is not there (or not any more). */
export const PENDING = -1;
export const ABSENT = -2;

/** Names in the order in which they were met; both sides count by them. */
export class Names {
  readonly all: string[] = [];
  private readonly numbers = new Map<string, number>();
  private readonly shortNames = new ShortNames();

  /** The number of a name, given out if it is new. */
  number(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    this.numbers.set(name, this.all.length);
    return this.all.push(name) - 1;
  }

  /** The name of a number without the domain that all names share. */
  short(number: number): string {
    return this.shortNames.of(this.all[number]!, this.all);
  }

  /** -1 for one that was never met. */
  find(name: string): number {
    return this.numbers.get(name) ?? -1;
  }
}

/** What a side's own numbers of nodes and pods are among those that both share. */
export interface Numbering {
  readonly nodes: Int32Array;
  readonly pods: Int32Array;
}

export function numbering(nodes: readonly string[], pods: readonly string[], shared: Shared): Numbering {
  return {
    nodes: Int32Array.from(nodes, (name) => (name ? shared.nodes.number(name) : -1)),
    pods: Int32Array.from(pods, (name) => (name ? shared.pods.number(name) : -1)),
  };
}

export interface Shared {
  readonly nodes: Names;
  readonly pods: Names;
}

export interface Standing {
  readonly placed: Placed;
  /** By pod: its node, PENDING or ABSENT. */
  readonly at: Int32Array;
  /** By node: the side's own number of it, -1 while it is not there. */
  readonly own: Int32Array;
}

export function standing(placed: Placed, { nodes, pods }: Numbering, shared: Shared): Standing {
  const at = new Int32Array(shared.pods.all.length).fill(ABSENT);
  const own = new Int32Array(shared.nodes.all.length).fill(-1);
  nodes.forEach((node, number) => {
    if (node >= 0 && placed.nodeExists(number)) own[node] = number;
  });
  for (let pod = 0; pod < placed.nPods; pod++) {
    const number = pods[pod]!;
    if (number < 0 || !placed.podFacts(pod)) continue;
    const node = placed.nodeOf(pod);
    at[number] = node < 0 ? PENDING : nodes[node]!;
  }
  return { placed, at, own };
}

/** A pod that is elsewhere on the other side; nodes, PENDING or ABSENT. */
export interface Elsewhere {
  readonly pod: number;
  readonly a: number;
  readonly b: number;
}

/** What the pods of a node are, held against the other side's. */
export const Change = {
  SAME: 0,
  /** It has pods that the other side has elsewhere, or nowhere. */
  MORE: 1,
  /** The other side has pods on it that are elsewhere here, or nowhere. */
  LESS: 2,
  BOTH: 3,
} as const;
export type Change = (typeof Change)[keyof typeof Change];

export interface Differences {
  /** Pods that are on another node, or on a node on one side only, in order of their numbers. */
  readonly pods: readonly Elsewhere[];
  /** By node, as seen from either side. */
  readonly a: Uint8Array;
  readonly b: Uint8Array;
  readonly nNodes: number;
}

export function differences(a: Standing, b: Standing): Differences {
  const pods: Elsewhere[] = [];
  const seenFrom = { a: new Uint8Array(a.own.length), b: new Uint8Array(a.own.length) };
  for (let pod = 0; pod < a.at.length; pod++) {
    const at = { a: a.at[pod]!, b: b.at[pod]! };
    if (at.a === at.b || (at.a < 0 && at.b < 0)) continue;
    pods.push({ pod, ...at });
    mark(seenFrom.a, at.a, Change.MORE);
    mark(seenFrom.a, at.b, Change.LESS);
    mark(seenFrom.b, at.b, Change.MORE);
    mark(seenFrom.b, at.a, Change.LESS);
  }
  return { pods, ...seenFrom, nNodes: seenFrom.a.reduce((n, change) => n + Number(change > 0), 0) };
}

function mark(changes: Uint8Array, node: number, change: Change): void {
  if (node >= 0) changes[node]! |= change;
}
