// How much of the optimum of a run is still in reach after each of its cycles, as docs/optimum.md has it.

import type { Cycle } from "../base/units.ts";

/** After which cycle something was lost: in that one if `exact`, else in one after `since`. */
export interface ReachStep {
  readonly cycle: Cycle;
  readonly since: Cycle;
  readonly exact: boolean;
  readonly placed: number;
  readonly by_priority: Readonly<Record<string, number>>;
  /** null where only the numbers of pods are proven. */
  readonly value: number | null;
}

/** The start, and each cycle that took something away; empty where the optimum is not proven. */
export type Reach = readonly ReachStep[];

/** What is known to be in reach after a cycle: at most `most`, at least `least`. The same where it is exact. */
export interface InReach {
  readonly most: ReachStep;
  readonly least: ReachStep;
}

export function reachAfter(reach: Reach, cycle: Cycle): InReach | null {
  const most = reach.findLast((step) => step.cycle <= cycle);
  if (!most) return null;
  const next = reach[reach.indexOf(most) + 1];
  return { most, least: next && !next.exact && cycle > next.since ? next : most };
}

/** What the line shows: the first thing, in the order of the objective, of which less is left at the end. */
export function measureOf(reach: Reach): ((step: ReachStep) => number) | null {
  const [first, last] = [reach[0], reach.at(-1)];
  if (!first || !last || first === last) return null;
  const levels = Object.keys(first.by_priority).sort((a, b) => Number(b) - Number(a));
  const level = levels.find((each) => first.by_priority[each] !== last.by_priority[each]);
  if (level !== undefined) return (step) => step.by_priority[level] ?? 0;
  return (step) => step.value ?? 0;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** The line, and one below it where no more is known than that the truth lies between them. */
export interface ReachLines {
  readonly most: readonly Place[];
  readonly least: readonly Place[];
}

/** Corners of the lines; `x` of cycles, `y` of shares: 1 for all of the optimum, 0 for what was left at the end. */
export function linesOf(
  reach: Reach,
  x: (cycle: Cycle) => number,
  y: (share: number) => number,
  end: Cycle,
): ReachLines {
  const measure = measureOf(reach) ?? ((): number => 1);
  const [high, low] = [measure(reach[0]!), measure(reach.at(-1)!)];
  const at = (step: ReachStep): number => y(high === low ? 1 : (measure(step) - low) / (high - low));
  const corners = (begin: (step: ReachStep) => Cycle): Place[] => {
    const places: Place[] = [];
    for (const step of reach) {
      const before = places.at(-1);
      if (before) places.push({ x: x(begin(step)), y: before.y });
      places.push({ x: x(begin(step)), y: at(step) });
    }
    return [...places, { x: x(end), y: at(reach.at(-1)!) }];
  };
  return {
    most: corners((step) => step.cycle),
    least: corners((step) => (step.exact ? step.cycle : step.since)),
  };
}
