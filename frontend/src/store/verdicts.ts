// The verdict about every node of one cycle, from its detail events, as columns over node numbers.

import type { NodeIndex } from "../base/units.ts";
import {
  readDetail,
  type ExtenderColumns,
  type FilterColumns,
  type NominatedOnNode,
  type PreemptionDryRun,
  type ScoreColumns,
  type StatusRecord,
} from "../wire/events.ts";
import { columnValues, type IntColumn } from "../wire/column.ts";
import { Reader } from "../wire/msgpack.ts";
import type { CycleRecord } from "./record.ts";

/** What one cycle says about a node; the values index colours and shapes. */
export const Verdict = {
  /** Sampling stopped before it, or the cycle never got to Filter. */
  UNEXAMINED: 0,
  FEASIBLE: 1,
  REJECTED: 2,
  /** Looking at one plugin: an earlier one had rejected the node. */
  UNEVALUATED: 3,
  CHOSEN: 4,
  NOMINATED: 5,
  /** Looking at one plugin: it had nothing to say in this cycle. */
  SKIPPED: 6,
  /** Observed: not among the nodes that passed; why, the scheduler does not report. */
  UNKNOWN: 7,
  /** Rejected only because nominated pods count on it. */
  HELD: 8,
} as const;
export type Verdict = (typeof Verdict)[keyof typeof Verdict];

export interface ScoreColumn {
  readonly plugin: number;
  readonly weight: number;
  readonly raw: IntColumn;
  readonly normalized: IntColumn;
}

/** Scores of the feasible nodes, all aligned with `nodes`; `at` finds a node's place. */
export interface Scores {
  readonly nodes: IntColumn;
  readonly plugins: readonly ScoreColumn[];
  readonly totals: IntColumn;
  readonly at: ReadonlyMap<number, number>;
}

export interface CycleDetail {
  /** By node number: index into `statuses` plus 1; 0 if the node was not examined. */
  readonly statusOf: Uint16Array;
  readonly statuses: readonly StatusRecord[];
  /** Examined nodes in the order in which they were. */
  readonly examined: Int32Array;
  readonly feasible: IntColumn;
  /** Nodes on which nominated pods make a difference. */
  readonly nominated: ReadonlyMap<NodeIndex, NominatedOnNode>;
  readonly scores: Scores | null;
  /** Scores of a partly hidden cycle, whose `totals` are empty, and perhaps each `normalized`. */
  readonly partScores: Scores | null;
  readonly dryRun: PreemptionDryRun | null;
  /** What calls to extenders did to single nodes, by place in `CycleRecord.extenders`. */
  readonly calls: ReadonlyMap<number, CallColumns>;
}

/** Nodes one call took away, with the extender's words; and the scores it gave, highest first. */
export interface CallColumns {
  readonly removed: readonly { node: NodeIndex; reason: string }[];
  readonly scores: readonly { node: NodeIndex; score: number }[];
}

/** Decode a cycle's `[detail event, ...]`; `nodeOrder` is the one at the time of the cycle. */
export function cycleDetail(bytes: Uint8Array, record: CycleRecord, nodeOrder: readonly number[]): CycleDetail {
  return detailOf(new Reader(bytes).value() as Rows, record, nodeOrder);
}

type Rows = readonly (readonly unknown[])[];

/** The same, decoded. */
export function detailOf(rows: Rows, record: CycleRecord, nodeOrder: readonly number[]): CycleDetail {
  let filter: FilterColumns | null = null;
  let scores: ScoreColumns | null = null;
  let dryRun: PreemptionDryRun | null = null;
  const calls = new Map<number, CallColumns>();
  for (const row of rows) {
    const event = readDetail(row);
    if (event?.kind === "FilterColumns") filter = event;
    else if (event?.kind === "ScoreColumns") scores = event;
    else if (event?.kind === "PreemptionDryRun") dryRun = event;
    else if (event?.kind === "ExtenderColumns") calls.set(event.call, readCall(event));
  }
  const found = scores && readScores(scores);
  const [whole, part] = found?.totals.length ? [found, null] : [null, found];
  return { ...verdicts(filter, record, nodeOrder), scores: whole, partScores: part, dryRun, calls };
}

function readCall(event: ExtenderColumns): CallColumns {
  const why = columnValues(event.reason);
  const scores = columnValues(event.scores);
  const removed = [...columnValues(event.removed)].map((node, i) => ({ node, reason: event.reasons[why[i]!] ?? "" }));
  const scored = [...columnValues(event.nodes)].map((node, i) => ({ node, score: scores[i]! }));
  return { removed, scores: scored.sort((a, b) => b.score - a.score) };
}

type Filtered = Pick<CycleDetail, "statusOf" | "statuses" | "examined" | "feasible" | "nominated">;

function verdicts(filter: FilterColumns | null, record: CycleRecord, nodeOrder: readonly number[]): Filtered {
  const none = { statusOf: new Uint16Array(), statuses: [], examined: new Int32Array() };
  if (!filter) return { ...none, feasible: new Int32Array(), nominated: new Map() };
  const status = columnValues(filter.status);
  const given = filter.nodes ? columnValues(filter.nodes) : null;
  const start = record.started.start_index;
  const examined = new Int32Array(status.length);
  let top = -1;
  for (let i = 0; i < examined.length; i++) {
    const node = given ? given[i]! : nodeOrder[(start + i) % nodeOrder.length]!;
    examined[i] = node;
    if (node > top) top = node;
  }
  const statusOf = new Uint16Array(top + 1);
  for (let i = 0; i < examined.length; i++) statusOf[examined[i]!] = status[i]! + 1;
  const nominated = new Map(filter.nominated.map((row) => [row.node, row]));
  return { statusOf, statuses: filter.statuses, examined, feasible: columnValues(filter.feasible), nominated };
}

function readScores(event: ScoreColumns): Scores {
  const nodes = columnValues(event.nodes);
  const at = new Map<number, number>();
  nodes.forEach((node, i) => at.set(node, i));
  return {
    nodes,
    at,
    totals: columnValues(event.totals),
    plugins: event.plugins.map((p) => ({
      plugin: p.plugin,
      weight: p.weight,
      raw: columnValues(p.raw),
      normalized: columnValues(p.normalized),
    })),
  };
}

/** The status Filter gave a node; null if it was not examined. */
export function statusOf(detail: CycleDetail, node: NodeIndex): StatusRecord | null {
  const index = detail.statusOf[node] ?? 0;
  return index ? detail.statuses[index - 1]! : null;
}

/** Where a look at the cycle stands: the whole of it, one point, or one plugin of a point. */
export interface Look {
  readonly point: string | null;
  readonly plugin: number | null;
}

/** The verdict about every node number below `nNodes`, as seen from `look`. */
export function verdictColumn(record: CycleRecord, detail: CycleDetail | null, look: Look, nNodes: number): Uint8Array {
  const column = new Uint8Array(nNodes);
  if (record.observed) column.fill(Verdict.UNKNOWN);
  if (detail) fill(column, record, detail, look);
  if (look.plugin !== null && (look.point === "Filter" || look.point === "PreFilter")) return column;
  if (chosenIsKnown(look)) markPick(column, record);
  return column;
}

function fill(column: Uint8Array, record: CycleRecord, detail: CycleDetail, look: Look): void {
  if (look.point === "QueueSort" || look.point === "PreFilter") return narrow(column, record, look);
  const order = pluginOrder(record);
  const evaluated = look.point === "Filter" && look.plugin !== null ? order.get(look.plugin) : undefined;
  const skipped = evaluated === undefined && look.point === "Filter" && look.plugin !== null;
  const said = detail.statuses.map((status): Verdict => {
    const passed = status.code === "Success";
    if (skipped) return Verdict.SKIPPED;
    if (evaluated === undefined || passed) return passed ? Verdict.FEASIBLE : Verdict.REJECTED;
    return compare(order.get(status.plugin) ?? -1, evaluated);
  });
  for (const node of detail.examined) column[node] = said[detail.statusOf[node]! - 1]!;
  for (const { node, without } of detail.nominated.values()) {
    if (!without && column[node] === Verdict.REJECTED) column[node] = Verdict.HELD;
  }
  if (look.point === "Score" || look.point === "PreScore") return;
  narrow(column, record, look);
}

function compare(rejectedBy: number, evaluated: number): Verdict {
  if (rejectedBy === evaluated) return Verdict.REJECTED;
  return rejectedBy < evaluated ? Verdict.UNEVALUATED : Verdict.FEASIBLE;
}

/** Nodes that PreFilter left out are rejected, though no Filter plugin evaluated them. */
function narrow(column: Uint8Array, record: CycleRecord, look: Look): void {
  const narrowed = record.preFilter?.narrowed;
  if (!narrowed || look.plugin !== null) return;
  const kept = new Set(narrowed);
  for (let node = 0; node < column.length; node++) {
    if (!kept.has(node)) column[node] = Verdict.REJECTED;
    else if (look.point === "PreFilter") column[node] = Verdict.FEASIBLE;
  }
}

/** Place in the order of Filter plugins that took part. */
function pluginOrder(record: CycleRecord): Map<number, number> {
  const filter = record.points.find((step) => step.point === "Filter");
  const plugins = filter?.plugins.filter((plugin) => plugin.outcome !== "skipped") ?? [];
  return new Map(plugins.map((plugin, i) => [plugin.plugin, i]));
}

const BEFORE_THE_PICK: ReadonlySet<string> = new Set(["QueueSort", "PreFilter", "Filter", "PreScore"]);

function chosenIsKnown(look: Look): boolean {
  if (look.point === "Score") return look.plugin === null;
  return look.point === null || !BEFORE_THE_PICK.has(look.point);
}

function markPick(column: Uint8Array, record: CycleRecord): void {
  const { selected, postFilter } = record;
  if (selected) column[selected.node] = Verdict.CHOSEN;
  else if (postFilter && postFilter.node >= 0) column[postFilter.node] = Verdict.NOMINATED;
}
