// Why a pod is where it is: the funnel from all nodes to those that fit, what came closest, and the
// way the pod took through the queues. Everything here points to its evidence.

import type { QueueMoved } from "../wire/events.ts";
import type { CycleRecord } from "./record.ts";
import type { Explorer } from "./explorer.ts";
import { statusOf, type CycleDetail } from "./verdicts.ts";

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
    ? [{ plugin: -1, rejected: record.started.n_nodes - narrowed.length, left: narrowed.length, reasons: [] }] : [];
  for (const { plugin, rejected } of step?.plugins ?? []) {
    if (!rejected) continue;
    left -= rejected;
    found.push({ plugin, rejected, left, reasons: reasonsOf(detail, plugin) });
  }
  return found;
}

/** How many nodes the funnel begins with. */
export const funnelStart = (record: CycleRecord): number =>
  record.preFilter?.narrowed ? record.started.n_nodes : record.filter?.n_examined ?? 0;

function reasonsOf(detail: CycleDetail | null, plugin: number): { text: string; n: number }[] {
  const counts = new Map<string, number>();
  for (const node of detail?.examined ?? []) {
    const status = statusOf(detail!, node)!;
    if (status.plugin !== plugin || status.code === "Success") continue;
    for (const reason of status.reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].map(([text, n]) => ({ text, n })).sort((a, b) => b.n - a.n);
}

export interface Miss {
  readonly node: number;
  readonly plugin: number;
  readonly reasons: readonly string[];
  /** What is short, where the reason is a lack of a resource. */
  readonly short: readonly { resource: string; amount: number }[];
}

/** Rejected nodes that came closest: turned down latest, for the least. */
export function nearestMisses(
  explorer: Explorer, record: CycleRecord, detail: CycleDetail, most: number,
): Miss[] {
  const place = new Map(record.points.find((p) => p.point === "Filter")?.plugins.map((p, i) => [p.plugin, i]));
  const misses: { miss: Miss; rank: number[] }[] = [];
  for (const node of detail.examined) {
    const status = statusOf(detail, node)!;
    if (status.code === "Success") continue;
    const short = shortage(explorer, record.started.pod, node, status.reasons);
    const lack = short.reduce((sum, s) => sum + s.share, 0);
    const rank = [
      status.code === "Unschedulable" ? 0 : 1, -(place.get(status.plugin) ?? -1), status.reasons.length, lack,
    ];
    misses.push({ miss: { node, plugin: status.plugin, reasons: status.reasons, short }, rank });
  }
  return misses.sort((a, b) => compare(a.rank, b.rank)).slice(0, most).map(({ miss }) => miss);
}

function compare(a: number[], b: number[]): number {
  const i = a.findIndex((value, at) => value !== b[at]);
  return i < 0 ? 0 : a[i]! - b[i]!;
}

function shortage(
  explorer: Explorer, pod: number, node: number, reasons: readonly string[],
): { resource: string; amount: number; share: number }[] {
  const { state } = explorer;
  const requests = state.podFacts(pod)?.requests ?? [];
  return reasons.flatMap((reason) => {
    const resource = /^Insufficient (.+)$/.exec(reason)?.[1] ?? "";
    const at = state.resources.indexOf(resource);
    const wanted = requests[at] ?? 0;
    if (at < 0 || !wanted) return [];
    const mine = state.nodeOf(pod) === node ? wanted : 0;
    const amount = wanted - (state.allocatable(node, at) - (state.requested(node, at) - mine));
    return amount > 0 ? [{ resource, amount, share: amount / wanted }] : [];
  });
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
