// The recorded run that the landing page plays: what is shown at each of its steps.

import { filled } from "../../base/page.ts";

/** As `static/home/run.json` has it. */
export interface Recorded {
  readonly nodes: readonly string[];
  readonly cycles: readonly Cycle[];
}

export interface Cycle {
  readonly pod: string;
  readonly node: string;
  /** The plugin that rejected each node; "" for a feasible one. */
  readonly rejected_by: readonly string[];
  /** Of each node, null if it was not scored; null where only one node was feasible. */
  readonly totals: readonly (number | null)[] | null;
}

export const POINTS = ["filter", "score", "bind"] as const;
export type Point = (typeof POINTS)[number];

export interface Step {
  readonly cycle: Cycle;
  /** From 0. */
  readonly number: number;
  readonly point: Point;
}

/** Sentences of the page, with places for values. */
export interface Sentences {
  readonly filter: string;
  readonly single: string;
  readonly score: string;
  readonly tie: string;
  readonly bind: string;
}

/** Every point of every cycle; with one feasible node nothing is scored. */
export const stepsOf = (run: Recorded): Step[] =>
  run.cycles.flatMap((cycle, number) =>
    POINTS.filter((point) => point !== "score" || cycle.totals).map((point) => ({ cycle, number, point })),
  );

const feasible = (cycle: Cycle): number => cycle.rejected_by.filter((plugin) => plugin === "").length;

const known = (totals: Cycle["totals"]): number[] => (totals ?? []).filter((total) => total !== null);

/** What became of the nodes at a point; "" at one that is still ahead. */
export function countAt(run: Recorded, { cycle, point }: Step, of: Point): string {
  if (POINTS.indexOf(of) > POINTS.indexOf(point)) return "";
  if (of === "filter") return `${run.nodes.length} → ${feasible(cycle)}`;
  if (of === "score") return cycle.totals ? `${feasible(cycle)} → 1` : "–";
  return cycle.node;
}

export function sentence(run: Recorded, { cycle, point }: Step, texts: Sentences): string {
  const values = { pod: cycle.pod, node: cycle.node, n: feasible(cycle), all: run.nodes.length };
  if (point === "filter") return filled(values.n === 1 ? texts.single : texts.filter, values);
  if (point === "bind") return filled(texts.bind, values);
  const totals = known(cycle.totals);
  const total = Math.max(...totals);
  const tied = totals.filter((each) => each === total).length;
  return filled(tied > 1 ? texts.tie : texts.score, { ...values, total, tied });
}

/** How a node is drawn: its class, and the mark or total in it. */
export interface Cell {
  readonly look: "rejected" | "feasible" | "chosen" | "score" | "out";
  readonly title: string;
  readonly total?: number;
  /** 3 to 9: the higher, the darker. */
  readonly shade?: number;
}

const SHADES = [3, 5, 7, 9];

export function cellOf(run: Recorded, { cycle, point }: Step, i: number): Cell {
  const name = run.nodes[i] ?? "";
  const plugin = cycle.rejected_by[i];
  const title = plugin ? `${name}: ${plugin}` : name;
  const total = cycle.totals?.[i] ?? null;
  if (point === "bind" && name === cycle.node) return { look: "chosen", title };
  if (point === "filter") return { look: plugin ? "rejected" : "feasible", title };
  if (point === "score" && total !== null) return { look: "score", title, total, shade: shadeOf(total, cycle.totals) };
  return { look: "out", title };
}

function shadeOf(total: number, totals: Cycle["totals"]): number {
  const all = known(totals);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const share = high > low ? (total - low) / (high - low) : 1;
  return SHADES[Math.round(share * (SHADES.length - 1))] ?? 3;
}
