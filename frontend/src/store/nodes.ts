// Columns over node numbers at the moment shown: verdicts, and values to colour by.

import type { NodeIndex, PodIndex } from "../base/units.ts";
import { quantity } from "../base/format.ts";
import { t, type TextKey } from "../base/text/text.ts";
import { FIT, type NominatedPod, type TaintRecord } from "../wire/events.ts";
import type { CycleRecord } from "./record.ts";
import type { Explorer } from "./explorer.ts";
import { POD, type NodeFacts } from "./fold.ts";
import { nominatedOn, type Nominated } from "./nominated.ts";
import type { State } from "./state.ts";
import { statusOf, Verdict, verdictColumn, type CycleDetail, type Scores } from "./verdicts.ts";

/** Scores on a scale from 0 to the highest one could get, so that near ones look alike. */
export const FULL_SCALE = "score-full";
/** Upstream: framework.MaxNodeScore. */
const MAX_NODE_SCORE = 100;

export interface Measure {
  /** `verdict`, `score`, `score-full`, `pods` or a resource name. */
  readonly kind: string;
  /** By node number; NaN where there is none. null: nothing to colour by, as in a cycle without scores. */
  readonly values: Float64Array | null;
  readonly low: number;
  readonly high: number;
}

export function verdictsAt(explorer: Explorer): Uint8Array {
  const n = nNodeNumbers(explorer);
  const { record, position } = explorer.navigation;
  return record ? verdictColumn(record, explorer.details.ready, position, n) : new Uint8Array(n);
}

/** Node numbers are below this, those of nodes that are tried included. */
const nNodeNumbers = ({ fold, state }: Explorer): number =>
  Math.max(fold.nodeNames.length, ...state.addedNodes.map((node) => node + 1));

/** How many of the nodes that exist have each verdict. */
export function countVerdicts({ state }: Explorer, verdicts: Uint8Array): number[] {
  const counts = new Array<number>(Object.keys(Verdict).length).fill(0);
  for (const node of state.nodesSeen) if (state.nodeExists(node)) counts[verdicts[node] ?? 0]!++;
  return counts;
}

/** The node one asked for, or else that of the pod at hand, or the one it is nominated to; -1 for none. */
export function nodeAtHand({ state, selection }: Explorer): NodeIndex {
  const { node, pod } = selection;
  if (node >= 0) return node;
  const at = state.nodeOf(pod);
  return at >= 0 ? at : state.nominatedNodeOf(pod);
}

/** The cycle shown if it is about the selected pod, or else the pod's last one before; null if it had none. */
export function attemptOf(explorer: Explorer): CycleRecord | null {
  const { navigation, selection, state } = explorer;
  const { record } = navigation;
  if (selection.pod < 0) return null;
  return record?.started.pod === selection.pod ? record : explorer.record(state.pod(selection.pod, POD.CYCLE));
}

const CACHE = ["absent", "assumed", "added"];

/** How the scheduler's cache holds a pod, as a text. */
export function cacheState(state: State, pod: PodIndex): TextKey {
  if (state.pod(pod, POD.TERMINATING)) return "cache.terminating";
  return `cache.${CACHE[state.pod(pod, POD.CACHE)]}` as TextKey;
}

/** What the map colours by: `auto` shows scores while one looks at scoring or tries others, else verdicts. */
export function measureAt(explorer: Explorer): Measure {
  const { colour } = explorer.display.map;
  const { point, plugin } = explorer.navigation.position;
  const showsScores = point === "Score" || explorer.tried?.detail.scores;
  const kind = colour !== "auto" ? colour : showsScores ? "score" : "verdict";
  if (kind === "verdict") return { kind, values: null, low: 0, high: 0 };
  const values = new Float64Array(nNodeNumbers(explorer)).fill(NaN);
  if (kind !== "score" && kind !== FULL_SCALE) {
    fillUse(values, explorer, kind);
    return { kind, values, low: 0, high: 1 };
  }
  const scores = explorer.details.ready?.scores ?? null;
  if (!scores) return { kind, values: null, low: 0, high: 0 };
  fillScores(values, scores, plugin);
  return { kind, values, ...(kind === FULL_SCALE ? { low: 0, high: highest(scores, plugin) } : range(values)) };
}

/** What a node could score at most: in one plugin, or in all that scored by their weights. */
function highest(scores: Scores, plugin: number | null): number {
  if (scores.plugins.some((each) => each.plugin === plugin)) return MAX_NODE_SCORE;
  return scores.plugins.reduce((sum, { weight }) => sum + MAX_NODE_SCORE * weight, 0);
}

function fillScores(values: Float64Array, scores: Scores, plugin: number | null): void {
  const column = scores.plugins.find((p) => p.plugin === plugin)?.normalized;
  scores.nodes.forEach((node, i) => (values[node] = (column ?? scores.totals)[i]!));
}

function fillUse(values: Float64Array, { state, fold }: Explorer, kind: string): void {
  const resource = fold.resources.indexOf(kind);
  for (const node of state.nodesSeen) {
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

/** The plugin that rejected a node, its reasons in upstream's words, and what nominated pods have to do with it. */
export interface Refusal {
  readonly plugin: string;
  readonly reasons: readonly string[];
  readonly code: string;
  readonly nominated: string;
}

export function refusal(
  explorer: Explorer,
  record: CycleRecord | null,
  detail: CycleDetail | null,
  node: NodeIndex,
): Refusal | null {
  if (!detail || !record) return null;
  const status = statusOf(detail, node);
  if (!status || status.code === "Success") return null;
  const plugin = explorer.pluginName(status.plugin);
  const nominated = nominatedOn(detail, node);
  return {
    plugin,
    reasons: status.reasons,
    code: status.code,
    nominated: nominated ? nominatedText(explorer, nominated, plugin) : "",
  };
}

const NAMED = 3;

/** What nominated pods do to a node in words: which pods, and what they take. `plugin` rejects the node. */
export function nominatedText(explorer: Explorer, { effect, pods }: Nominated, plugin: string): string {
  const named = pods.slice(0, NAMED).map((pod) => nominatedPod(explorer, pod));
  const more = pods.length > NAMED ? [`+${pods.length - NAMED}`] : [];
  const why = effect === "rejects" && plugin === FIT ? "room" : effect;
  return t(`nominated.${why}` as TextKey, { n: pods.length, pods: [...named, ...more].join(", ") });
}

function nominatedPod(explorer: Explorer, { pod, requests }: NominatedPod): string {
  const amounts = requests.flatMap((amount, r) => {
    const name = explorer.state.resources[r] ?? "";
    return amount ? [`${quantity(name, amount)} ${name}`] : [];
  });
  return t("nominated.pod", { pod: explorer.podKey(pod), amounts: amounts.join(", ") || t("nominated.nothing") });
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

/** A taint as kubectl writes it. */
export const taintText = ({ key, value, effect }: TaintRecord): string =>
  value ? `${key}=${value}:${effect}` : `${key}:${effect}`;

/** Whether a taint keeps pods off; the taint of a cordon is told as that. */
export const isTainted = ({ taints }: NodeFacts): boolean =>
  taints.some(({ key, effect }) => effect !== "PreferNoSchedule" && key !== "node.kubernetes.io/unschedulable");

/** Which nodes a search text matches: by name, zone, label or taint. */
export function nodeMatcher(explorer: Explorer, query: string): ((node: NodeIndex) => boolean) | null {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const { state } = explorer;
  return (node) => {
    const facts = state.nodeFacts(node);
    if (!facts) return false;
    const labels = Object.entries(facts.labels).map(([key, value]) => `${key}=${value}`);
    const taints = facts.taints.map(taintText);
    const text = [facts.name, facts.zone, ...labels, ...taints].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

export { Verdict };
