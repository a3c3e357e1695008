// One timeline for two runs: their attempts, aligned by pod and attempt.

import type { Cycle } from "../../base/units.ts";
import type { Chronicle } from "../chronicle.ts";
import { UNFINISHED } from "../chronicle.ts";
import type { Numbering } from "./standing.ts";

/**
 * A place on the timeline. `a` and `b` are the cycles that were the last by then. Where one of them is `tried`, only
 * that run is about this attempt here: the other has it in its cycle `other`, earlier or later, or never (0).
 */
export interface PlaceInTime {
  readonly a: Cycle;
  readonly b: Cycle;
  readonly tried: "none" | "both" | "a" | "b" | "end";
  readonly other: Cycle;
  /** Whether the attempt came to another end in the other run, or is at another place there. */
  readonly differs: boolean;
}

/** How a cycle came out, in numbers that both sides share. */
export interface Outcomes {
  readonly chronicle: Chronicle;
  readonly numbers: Numbering;
}

/**
 * The places: before the first cycle, one for each attempt, and the end. Attempts that both runs make in the same order
 * are one place; of those that they make in another order as many as possible (the longest common sequence).
 */
export function placesInTime(a: Outcomes, b: Outcomes): PlaceInTime[] {
  const inB = numbersByAttempt(b);
  const partners = [0, ...attempts(a).map((key) => inB.get(key) ?? 0)];
  const inA = new Int32Array(b.chronicle.nCycles + 1);
  partners.forEach((cycle, number) => cycle && (inA[cycle] = number));
  const places: PlaceInTime[] = [{ a: 0, b: 0, tried: "none", other: 0, differs: false }];
  let at = { a: 0, b: 0 };
  const alone = (upTo: { a: Cycle; b: Cycle }): void => {
    while (at.a + 1 < upTo.a) {
      at = { ...at, a: at.a + 1 };
      places.push({ ...at, tried: "a", other: partners[at.a]!, differs: true });
    }
    while (at.b + 1 < upTo.b) {
      at = { ...at, b: at.b + 1 };
      places.push({ ...at, tried: "b", other: inA[at.b]!, differs: true });
    }
  };
  for (const number of inOneOrder(partners)) {
    const pair = { a: number, b: partners[number]! };
    alone(pair);
    at = pair;
    places.push({ ...at, tried: "both", other: 0, differs: endsDiffer(a, pair.a, b, pair.b) });
  }
  alone({ a: a.chronicle.nCycles + 1, b: b.chronicle.nCycles + 1 });
  places.push({ ...at, tried: "end", other: 0, differs: false });
  return places;
}

function numbersByAttempt(side: Outcomes): Map<string, Cycle> {
  return new Map(attempts(side).map((key, i) => [key, i + 1]));
}

/** What aligns each cycle: its pod, its attempt, and how many cycles of that attempt there were before. */
function attempts({ chronicle, numbers }: Outcomes): string[] {
  const times = new Map<string, number>();
  return Array.from({ length: chronicle.nCycles }, (_, i) => {
    const key = `${numbers.pods[chronicle.pod.at(i + 1)]} ${chronicle.attempt.at(i + 1)}`;
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    return `${key} ${before}`;
  });
}

function endsDiffer(a: Outcomes, cycleA: Cycle, b: Outcomes, cycleB: Cycle): boolean {
  const result = a.chronicle.result.at(cycleA);
  return result !== b.chronicle.result.at(cycleB) || (result !== UNFINISHED && nodeOf(a, cycleA) !== nodeOf(b, cycleB));
}

const nodeOf = ({ chronicle, numbers }: Outcomes, cycle: Cycle): number => {
  const node = chronicle.node.at(cycle);
  return node < 0 ? -1 : numbers.nodes[node]!;
};

/** Places in a list of numbers (0 for none) whose values rise, as many as there can be. */
export function inOneOrder(values: readonly number[]): number[] {
  const tails: number[] = [];
  const before = new Int32Array(values.length).fill(-1);
  values.forEach((value, place) => {
    if (!value) return;
    const length = firstNotBelow(tails, values, value);
    before[place] = length ? tails[length - 1]! : -1;
    tails[length] = place;
  });
  const found: number[] = [];
  for (let place = tails.at(-1) ?? -1; place >= 0; place = before[place]!) found.push(place);
  return found.reverse();
}

function firstNotBelow(tails: readonly number[], values: readonly number[], value: number): number {
  let low = 0;
  let high = tails.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[tails[middle]!]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
