// Other weights at Score, tried in the browser: totals are sums of normalised score times weight, so who wins at
// which weight of a plugin follows exactly.

import type { NodeSelected } from "../wire/events.ts";
import type { ScoreColumn, Scores } from "./verdicts.ts";

/** Upstream takes a weight of 0 for one that was not given: a plugin that is not to count is disabled. */
export const LEAST_WEIGHT = 1;
/** Upstream: a plugin's weight is an int32. */
export const MOST_WEIGHT = 2 ** 31 - 1;

/** Weights that differ from those of the run, by plugin number. */
export type Weights = ReadonlyMap<number, number>;

/** Whole weights from `low` to `high` for which the pick stays; `high` Infinity: however heavy. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface Weighing {
  readonly scores: Scores;
  readonly selected: NodeSelected;
  /** Place of the pick among the scored nodes. */
  readonly picked: number;
}

/** The scores of a cycle under other weights, and the pick that follows; `rule` says how it is made among equals. */
export function weigh(scores: Scores, recorded: NodeSelected, weights: Weights, rule = recorded.rule): Weighing {
  const selected = { ...recorded, rule };
  const plugins = scores.plugins.map((column) => ({ ...column, weight: weightOf(column, weights) }));
  const changed = plugins.filter(({ weight }, i) => weight !== scores.plugins[i]!.weight);
  if (!changed.length) return { scores, selected, picked: scores.at.get(selected.node)! };
  const totals = sum(plugins, scores.nodes.length);
  const picked = pick(totals, selected, scores);
  return {
    scores: { ...scores, plugins, totals },
    selected: selectedAt(picked, totals, plugins, scores, selected),
    picked,
  };
}

const weightOf = ({ plugin, weight }: ScoreColumn, weights: Weights): number => weights.get(plugin) ?? weight;

function sum(plugins: readonly ScoreColumn[], n: number): Float64Array {
  const totals = new Float64Array(n);
  for (const { normalized, weight } of plugins) for (let i = 0; i < n; i++) totals[i]! += normalized[i]! * weight;
  return totals;
}

/**
 * The place of the node that is taken. Where lots are drawn nobody can say who would be: the recorded pick stays while
 * it is among the best, else it is the first of them.
 */
function pick(totals: Float64Array, { rule, node }: NodeSelected, { at }: Scores): number {
  const best = highest(totals);
  if (rule !== "draw") return heapRoot(totals, best);
  const recorded = at.get(node)!;
  return totals[recorded] === best ? recorded : totals.indexOf(best);
}

function highest(totals: Float64Array): number {
  let best = -Infinity;
  for (const total of totals) if (total > best) best = total;
  return best;
}

/** The place that Go's `heap.Init` brings to the root of a max-heap: the first maximum in pre-order. */
export function heapRoot(totals: Float64Array, best = highest(totals)): number {
  const ranks = preOrder(totals.length);
  let found = -1;
  for (let i = 0; i < totals.length; i++) {
    if (totals[i] === best && (found < 0 || ranks[i]! < ranks[found]!)) found = i;
  }
  return found;
}

let ranked = new Int32Array();
/** The place of each element of a heap of `n` in its traversal from the root, left before right. */
function preOrder(n: number): Int32Array {
  if (ranked.length === n) return ranked;
  const ranks = new Int32Array(n);
  const ahead = n ? [0] : [];
  for (let rank = 0; ahead.length; rank++) {
    const i = ahead.pop()!;
    ranks[i] = rank;
    for (const child of [2 * i + 2, 2 * i + 1]) if (child < n) ahead.push(child);
  }
  return (ranked = ranks);
}

function selectedAt(
  picked: number,
  totals: Float64Array,
  plugins: readonly ScoreColumn[],
  { nodes }: Scores,
  selected: NodeSelected,
): NodeSelected {
  let [second, tied] = [-1, 0];
  for (let i = 0; i < totals.length; i++) {
    if (totals[i] === totals[picked]) tied++;
    if (i !== picked && (second < 0 || totals[i]! > totals[second]!)) second = i;
  }
  return {
    ...selected,
    node: nodes[picked]!,
    total: totals[picked]!,
    n_tied: tied,
    runner_up: second < 0 ? -1 : nodes[second]!,
    runner_up_total: second < 0 ? 0 : totals[second]!,
    deciders: plugins.filter((p) => second >= 0 && p.normalized[picked] !== p.normalized[second]).map((p) => p.plugin),
  };
}

/**
 * The weights of one plugin, all others staying, for which the pick is taken as it is now. Where lots are drawn:
 * for which it is among the best.
 */
export function interval({ scores, selected, picked }: Weighing, plugin: number): Interval {
  const column = scores.plugins.find((each) => each.plugin === plugin);
  if (!column) return { low: LEAST_WEIGHT, high: Infinity };
  const { normalized, weight } = column;
  const { totals } = scores;
  const ranks = selected.rule === "draw" ? null : preOrder(totals.length);
  const [best, own] = [totals[picked]!, normalized[picked]!];
  let [low, high] = [LEAST_WEIGHT, Infinity];
  for (let i = 0; i < totals.length; i++) {
    const slope = own - normalized[i]!;
    if (!slope || i === picked) continue;
    // The pick leads by `ahead + slope * (w - weight)`, and has to by one unless it goes before at equal totals.
    const needed = ranks === null || ranks[picked]! < ranks[i]! ? 0 : 1;
    const spare = (best - totals[i]! - needed) / slope;
    if (slope > 0) low = Math.max(low, weight - Math.floor(spare));
    else high = Math.min(high, weight + Math.floor(-spare));
  }
  return { low, high };
}
