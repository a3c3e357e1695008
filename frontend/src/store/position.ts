// One address, three granularities: a cycle, an extension point in it, a plugin at that point.

import type { Cycle } from "../base/units.ts";
import { POINTS, type CycleRecord, type Point, type PointStep } from "./record.ts";

/** Cycle 0 is the time before the first. A plugin needs a point. */
export interface Position {
  readonly cycle: Cycle;
  readonly point: Point | null;
  readonly plugin: number | null;
}

export const GRANULARITIES = ["cycle", "point", "plugin"] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** A cycle as a whole, none of its points. */
export const wholeCycle = (cycle: Cycle): Position => ({ cycle, point: null, plugin: null });

export const START = wholeCycle(0);

export const samePosition = (a: Position, b: Position): boolean =>
  a.cycle === b.cycle && a.point === b.point && a.plugin === b.plugin;

/** The points a cycle went through and that had something to do; the only ones to stop at. */
export const visited = (record: CycleRecord): PointStep[] =>
  record.points.filter((step) => step.ran && (step.outcome !== "skipped" || step.plugins.length));

/** Whether a point still lies ahead of where one stands in the cycle. */
export const isAhead = ({ position }: { position: Position }, point: Point): boolean =>
  position.point !== null && POINTS.indexOf(point) > POINTS.indexOf(position.point);

/** The stops inside one cycle at a granularity, in order. */
export function stops(record: CycleRecord | null, cycle: Cycle, by: Granularity): Position[] {
  if (!record || by === "cycle") return [wholeCycle(cycle)];
  return visited(record).flatMap(({ point, plugins }): Position[] => {
    if (by === "point" || !plugins.length) return [{ cycle, point, plugin: null }];
    return plugins.map(({ plugin }) => ({ cycle, point, plugin }));
  });
}

/**
 * The stop after (`direction` 1) or before (-1) a position; null at either end of the run.
 * `recordOf` gives a cycle's record, null for cycle 0.
 */
export function neighbour(
  position: Position,
  by: Granularity,
  direction: 1 | -1,
  nCycles: Cycle,
  recordOf: (cycle: Cycle) => CycleRecord | null,
): Position | null {
  const here = stops(recordOf(position.cycle), position.cycle, by);
  const at = placeAmong(here, position);
  const next = here[direction === 1 ? Math.floor(at) + 1 : Math.ceil(at) - 1];
  if (next) return next;
  const cycle = position.cycle + direction;
  if (cycle < 0 || cycle > nCycles) return null;
  const there = stops(recordOf(cycle), cycle, by);
  return (direction === 1 ? there[0] : there.at(-1)) ?? wholeCycle(cycle);
}

/** Where a position stands among stops; one coarser than the stops stands half before them. */
function placeAmong(here: Position[], position: Position): number {
  const exact = here.findIndex((stop) => samePosition(stop, position));
  if (exact >= 0) return exact;
  if (position.point === null) return -0.5;
  const ofPoint = here.findIndex((stop) => stop.point === position.point);
  if (ofPoint < 0) return here.length - 1;
  return here[ofPoint]!.plugin === null ? ofPoint : ofPoint - 0.5;
}

/** The same place at a granularity, entering points and plugins at the first. */
export function refine(position: Position, record: CycleRecord | null, by: Granularity): Position {
  const { cycle } = position;
  if (by === "cycle" || !record) return wholeCycle(cycle);
  const steps = visited(record);
  const step = steps.find((s) => s.point === position.point) ?? steps[0];
  if (!step) return wholeCycle(cycle);
  if (by === "point") return { cycle, point: step.point, plugin: null };
  return { cycle, point: step.point, plugin: position.plugin ?? step.plugins[0]?.plugin ?? null };
}

export const granularityOf = (position: Position): Granularity =>
  position.plugin !== null ? "plugin" : position.point !== null ? "point" : "cycle";
