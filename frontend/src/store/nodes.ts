// Columns over node numbers at the moment shown: verdicts, and values to colour by.

import type { NodeIndex, PodIndex } from "../base/units.ts";
import type { TextKey } from "../base/text/text.ts";
import type { CycleRecord } from "./record.ts";
import type { Explorer } from "./explorer.ts";
import { POD } from "./fold.ts";
import type { State } from "./state.ts";
import { statusOf, Verdict, verdictColumn, type CycleDetail, type Scores } from "./verdicts.ts";

export interface Measure {
  /** `verdict`, `score`, `pods` or a resource name. */
  readonly kind: string;
  /** By node number; NaN where there is none. */
  readonly values: Float64Array | null;
  readonly low: number;
  readonly high: number;
}

export function verdictsAt(explorer: Explorer): Uint8Array {
  const n = explorer.fold.nodeNames.length;
  const { record, position } = explorer.navigation;
  return record ? verdictColumn(record, explorer.details.ready, position, n) : new Uint8Array(n);
}

/** How many of the nodes that exist have each verdict. */
export function countVerdicts({ fold, state }: Explorer, verdicts: Uint8Array): number[] {
  const counts = new Array<number>(Object.keys(Verdict).length).fill(0);
  for (const node of fold.nodesSeen) if (state.nodeExists(node)) counts[verdicts[node] ?? 0]!++;
  return counts;
}

/** The node one asked for, or else that of the pod at hand, or the one it is nominated to; -1 for none. */
export function nodeAtHand({ state, selection }: Explorer): NodeIndex {
  const { node, pod } = selection;
  if (node >= 0) return node;
  const at = state.nodeOf(pod);
  return at >= 0 ? at : state.nominatedNodeOf(pod);
}

const CACHE = ["absent", "assumed", "added"];

/** How the scheduler's cache holds a pod, as a text. */
export function cacheState(state: State, pod: PodIndex): TextKey {
  if (state.pod(pod, POD.TERMINATING)) return "cache.terminating";
  return `cache.${CACHE[state.pod(pod, POD.CACHE)]}` as TextKey;
}

/** What the map colours by: `auto` shows scores while one looks at scoring, else verdicts. */
export function measureAt(explorer: Explorer): Measure {
  const { colour } = explorer.display.map;
  const { point, plugin } = explorer.navigation.position;
  const kind = colour !== "auto" ? colour : point === "Score" ? "score" : "verdict";
  if (kind === "verdict") return { kind, values: null, low: 0, high: 0 };
  const values = new Float64Array(explorer.fold.nodeNames.length).fill(NaN);
  if (kind === "score") fillScores(values, explorer.details.ready?.scores ?? null, plugin);
  else fillUse(values, explorer, kind);
  return { kind, values, ...(kind === "score" ? range(values) : { low: 0, high: 1 }) };
}

function fillScores(values: Float64Array, scores: Scores | null, plugin: number | null): void {
  if (!scores) return;
  const column = scores.plugins.find((p) => p.plugin === plugin)?.normalized;
  scores.nodes.forEach((node, i) => (values[node] = (column ?? scores.totals)[i]!));
}

function fillUse(values: Float64Array, { state, fold }: Explorer, kind: string): void {
  const resource = fold.resources.indexOf(kind);
  for (const node of fold.nodesSeen) {
    const allocatable = resource < 0 ? 110 : state.allocatable(node, resource);
    if (!state.nodeExists(node) || allocatable <= 0) continue;
    values[node] = Math.min(1, (resource < 0 ? state.nPodsOn(node) : state.requested(node, resource)) / allocatable);
  }
}

function range(values: Float64Array): { low: number; high: number } {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? { low: 0, high: 0 } : { low, high };
}

/** The plugin that rejected a node, and its reasons in upstream's words. */
export function refusal(
  explorer: Explorer,
  record: CycleRecord | null,
  detail: CycleDetail | null,
  node: NodeIndex,
): { plugin: string; reasons: readonly string[]; code: string } | null {
  if (!detail || !record) return null;
  const status = statusOf(detail, node);
  if (!status || status.code === "Success") return null;
  return { plugin: explorer.pluginName(status.plugin), reasons: status.reasons, code: status.code };
}

/** Resources worth a bar: those any node offers, cpu and memory first. */
export function shownResources(explorer: Explorer, node: NodeIndex): number[] {
  const { state } = explorer;
  const rank = (name: string): number => (name === "cpu" ? 0 : name === "memory" ? 1 : 2);
  return state.resources
    .map((name, resource) => ({ name, resource }))
    .filter(
      ({ name, resource }) =>
        rank(name) < 2 ||
        (name.includes("/") && (state.allocatable(node, resource) > 0 || state.requested(node, resource) > 0)),
    )
    .sort((a, b) => rank(a.name) - rank(b.name))
    .map(({ resource }) => resource);
}

/** Which nodes a search text matches: by name, zone, label or taint. */
export function nodeMatcher(explorer: Explorer, query: string): ((node: NodeIndex) => boolean) | null {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const { state } = explorer;
  return (node) => {
    const facts = state.nodeFacts(node);
    if (!facts) return false;
    const labels = Object.entries(facts.labels).map(([key, value]) => `${key}=${value}`);
    const taints = facts.taints.map((taint) => `${taint.key}:${taint.effect}`);
    const text = [facts.name, facts.zone, ...labels, ...taints].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

export { Verdict };
