// Which rows the Explorer's tables have, and in which order: for the screen and for files alike.

import "../base/text/late.ts";
import type { NodeIndex } from "../base/units.ts";
import { t, type TextKey } from "../base/text/text.ts";
import type { Explorer } from "./explorer.ts";
import type { NodeColumn } from "./display.svelte.ts";
import { nodeMatcher, refusal } from "./nodes.ts";
import type { CycleRecord } from "./record.ts";
import { statusOf, type CycleDetail, type Scores } from "./verdicts.ts";

/** With fewer nodes a scheduler examines every one of them, unless it tries a nominated one first. */
const EXAMINES_ALL_BELOW = 100;

/** Nodes that exist, match the search, and have the verdict that is isolated, in order. */
export function nodeRows(explorer: Explorer, verdicts: Uint8Array): NodeIndex[] {
  const { isolate, query } = explorer.display.map;
  const matches = nodeMatcher(explorer, query);
  const { state } = explorer;
  const nodes = state.nodesSeen.filter(
    (node) => state.nodeExists(node) && (isolate < 0 || verdicts[node] === isolate) && (matches?.(node) ?? true),
  );
  const { nodesBy, nodesUp } = explorer.display.tables;
  if (!nodesBy) return nodes;
  const keyed = nodes.map((node) => ({ node, key: key(explorer, verdicts, node, nodesBy) }));
  const collator = new Intl.Collator("en", { numeric: true });
  keyed.sort((a, b) =>
    typeof a.key === "number" && typeof b.key === "number"
      ? a.key - b.key
      : collator.compare(String(a.key), String(b.key)),
  );
  const order = keyed.map((row) => row.node);
  return nodesUp ? order : order.reverse();
}

function key(explorer: Explorer, verdicts: Uint8Array, node: NodeIndex, by: NodeColumn): string | number {
  switch (by) {
    case "node":
      return explorer.nodeName(node);
    case "zone":
      return explorer.state.nodeFacts(node)?.zone ?? "";
    case "verdict":
      return verdicts[node] ?? 0;
    case "reason":
      return nodeReason(explorer, node);
    case "pods":
      return explorer.state.nPodsOn(node);
    case "score":
      return nodeScore(explorer, node) ?? -1;
    default: {
      const { state } = explorer;
      const resource = state.resources.indexOf(by);
      return state.requested(node, resource) / (state.allocatable(node, resource) || 1);
    }
  }
}

/** Why a node was rejected: the plugin and its reasons; empty if it was not. */
export function nodeReason(explorer: Explorer, node: NodeIndex): string {
  const { record } = explorer.navigation;
  const detail = explorer.details.ready;
  const refused = refusal(explorer, record, detail, node);
  if (record?.observed && detail && !detail.statusOf[node]) return t(unknownReason(record));
  return refused ? `${refused.plugin}: ${[...refused.reasons, refused.nominated].filter(Boolean).join(", ")}` : "";
}

/** The total of a node; null without one. */
export function nodeScore(explorer: Explorer, node: NodeIndex): number | null {
  const scores = explorer.details.ready?.scores;
  const at = scores?.at.get(node);
  return at === undefined ? null : scores!.totals[at]!;
}

/** The plugins that filtered in this cycle, in order; those that skipped it left out. */
export function filterPlugins(explorer: Explorer): number[] {
  const step = explorer.navigation.record?.points.find((point) => point.point === "Filter");
  return step?.plugins.filter((p) => p.outcome !== "skipped").map((p) => p.plugin) ?? [];
}

/** The place among the plugins of the one that rejected a node; Infinity if none did. */
export function rejectedAt(detail: CycleDetail, plugins: readonly number[], node: NodeIndex): number {
  const status = statusOf(detail, node);
  return !status || status.code === "Success" ? Infinity : plugins.indexOf(status.plugin);
}

/** Examined nodes as the filter matrix shows them. */
export function filterRows(explorer: Explorer, detail: CycleDetail, plugins: readonly number[]): NodeIndex[] {
  const { filterShows, filterByReason } = explorer.display.tables;
  const nodes = [...detail.examined].filter((node) => {
    const fits = statusOf(detail, node)!.code === "Success";
    return filterShows === "all" || (filterShows === "fits") === fits;
  });
  if (!filterByReason) return nodes;
  const at = (node: NodeIndex): number => rejectedAt(detail, plugins, node);
  return nodes.sort((a, b) => (at(a) === at(b) ? 0 : at(b) > at(a) ? 1 : -1));
}

/** Places of the feasible nodes, best first; equal totals keep their order, the winner leads. */
export function ranking({ totals, nodes }: Scores, winner: NodeIndex): number[] {
  const order = Array.from(totals, (_, i) => i).sort((a, b) => totals[b]! - totals[a]! || a - b);
  const first = order.findIndex((i) => nodes[i] === winner);
  if (first > 0) order.unshift(order.splice(first, 1)[0]!);
  return order;
}

/** Why a node may be missing among those that passed. */
export function unknownReason(record: CycleRecord): TextKey {
  const all = record.started.n_nodes < EXAMINES_ALL_BELOW && record.filter?.n_feasible !== 1;
  return all ? "unknown.filtered" : "unknown.maybe";
}
