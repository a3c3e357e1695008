// Why a pod is where it is: the funnel from all nodes to those that fit, what came closest, and the
// way the pod took through the queues. Everything here points to its evidence.

import type { QueueMoved, StatusRecord } from "../wire/events.ts";
import type { CycleRecord } from "./record.ts";
import type { Explorer } from "./explorer.ts";
import type { CycleDetail } from "./verdicts.ts";

export interface FunnelStep {
  /** -1: PreFilter left these nodes out. */
  readonly plugin: number;
  readonly rejected: number;
  readonly left: number;
  /** Upstream's reasons with the number of nodes, most frequent first; empty until detail is here. */
  readonly reasons: readonly { text: string; n: number }[];
}

export function funnel(record: CycleRecord, detail: CycleDetail | null): FunnelStep[] {
  const step = record.points.find((point) => point.point === "Filter");
  const narrowed = record.preFilter?.narrowed;
  let left = step?.flow?.into ?? 0;
  const found: FunnelStep[] = narrowed
    ? [{ plugin: -1, rejected: record.started.n_nodes - narrowed.length, left: narrowed.length, reasons: [] }]
    : [];
  const counts = detail ? statusCounts(detail) : [];
  for (const { plugin, rejected } of step?.plugins ?? []) {
    if (!rejected) continue;
    left -= rejected;
    found.push({ plugin, rejected, left, reasons: detail ? reasonsOf(detail, counts, plugin) : [] });
  }
  return found;
}

/** How many nodes the funnel begins with. */
export const funnelStart = (record: CycleRecord): number =>
  record.preFilter?.narrowed ? record.started.n_nodes : (record.filter?.n_examined ?? 0);

/** How many nodes got each status, by place in `statuses`. */
function statusCounts({ statuses, statusOf, examined }: CycleDetail): number[] {
  const counts = new Array<number>(statuses.length).fill(0);
  for (const node of examined) counts[statusOf[node]! - 1]!++;
  return counts;
}

function reasonsOf(detail: CycleDetail, counts: readonly number[], plugin: number): { text: string; n: number }[] {
  const found = new Map<string, number>();
  detail.statuses.forEach((status, i) => {
    if (status.plugin !== plugin || status.code === "Success") return;
    for (const reason of status.reasons) found.set(reason, (found.get(reason) ?? 0) + counts[i]!);
  });
  return [...found]
    .map(([text, n]) => ({ text, n }))
    .filter(({ n }) => n)
    .sort((a, b) => b.n - a.n);
}

export interface Miss {
  readonly node: number;
  readonly plugin: number;
  readonly reasons: readonly string[];
  /** What is short, where the reason is a lack of a resource. */
  readonly short: readonly { resource: string; amount: number }[];
}

/** Rejected nodes that came closest: turned down latest, for the least. */
export function nearestMisses(explorer: Explorer, record: CycleRecord, detail: CycleDetail, most: number): Miss[] {
  const { statuses, statusOf, examined } = detail;
  const { pod } = record.started;
  const ranks = statusRanks(record, statuses);
  const wanted = statuses.map((status) => wantedOf(explorer, pod, status.reasons));
  const near: { node: number; rank: number; share: number }[] = [];
  for (const node of examined) {
    const i = statusOf[node]! - 1;
    const rank = ranks[i]!;
    const last = near.length === most ? near.at(-1)! : null;
    if (rank === Infinity || (last && rank > last.rank)) continue;
    let share = 0;
    for (const each of wanted[i]!) share += lack(explorer, pod, node, each) / each.amount;
    if (last && rank === last.rank && share >= last.share) continue;
    const at = near.findIndex((other) => rank < other.rank || (rank === other.rank && share < other.share));
    near.splice(at < 0 ? near.length : at, 0, { node, rank, share });
    if (near.length > most) near.pop();
  }
  return near.map(({ node }) => {
    const i = statusOf[node]! - 1;
    const { plugin, reasons } = statuses[i]!;
    const short = wanted[i]!.map((each) => ({ resource: each.resource, amount: lack(explorer, pod, node, each) }));
    return { node, plugin, reasons, short: short.filter(({ amount }) => amount > 0) };
  });
}

/** How far a status let a node come, by place in `statuses`, 0 the furthest; Infinity if it passed. */
function statusRanks(record: CycleRecord, statuses: readonly StatusRecord[]): number[] {
  const plugins = record.points.find((point) => point.point === "Filter")?.plugins ?? [];
  const place = new Map(plugins.map((plugin, i) => [plugin.plugin, i]));
  const keys = statuses.map(({ code, plugin, reasons }) => [
    code === "Unschedulable" ? 0 : 1,
    -(place.get(plugin) ?? -1),
    reasons.length,
  ]);
  const order = [...keys].sort(compare);
  return statuses.map((status, i) =>
    status.code === "Success" ? Infinity : order.findIndex((key) => compare(key, keys[i]!) === 0),
  );
}

function compare(a: number[], b: number[]): number {
  const i = a.findIndex((value, at) => value !== b[at]);
  return i < 0 ? 0 : a[i]! - b[i]!;
}

/** A resource that reasons name, with what the pod wants of it. */
interface Wanted {
  readonly resource: string;
  readonly at: number;
  readonly amount: number;
}

function wantedOf({ state }: Explorer, pod: number, reasons: readonly string[]): Wanted[] {
  const requests = state.podFacts(pod)?.requests ?? [];
  return reasons.flatMap((reason) => {
    const resource = /^Insufficient (.+)$/.exec(reason)?.[1] ?? "";
    const at = state.resources.indexOf(resource);
    const amount = requests[at] ?? 0;
    return amount > 0 ? [{ resource, at, amount }] : [];
  });
}

/** How much of it a node lacks; the pod itself, if it is there by now, does not count. */
function lack({ state }: Explorer, pod: number, node: number, { at, amount }: Wanted): number {
  const mine = state.nodeOf(pod) === node ? amount : 0;
  return Math.max(0, amount - (state.allocatable(node, at) - (state.requested(node, at) - mine)));
}

export interface PodStep {
  readonly seq: number;
  readonly cycle: number;
  readonly timeMs: number;
  readonly move: QueueMoved;
}

/** The pod's latest moves up to the moment shown, newest first. */
export function latestMoves(explorer: Explorer, pod: number, most: number): PodStep[] {
  const { chronicle, trace } = explorer.fold;
  const found: PodStep[] = [];
  for (const seq of chronicle.eventsOfPod(pod, explorer.state.moment)) {
    const move = trace.event(seq);
    if (move?.kind !== "QueueMoved") continue;
    found.push({ seq, cycle: explorer.cycleShowing(seq), timeMs: chronicle.timeMs(seq), move });
    if (found.length === most) break;
  }
  return found;
}
