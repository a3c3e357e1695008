// Weights tried in the browser, against the plain way: build the heap, try every weight.

import { describe, expect, test } from "vitest";

import type { NodeSelected } from "../wire/events.ts";
import { heapRoot, interval, weigh, type Weighing } from "./lab-weights.ts";
import type { Scores } from "./verdicts.ts";

let seed = 7;
const draw = (below: number): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
};

/** Upstream's way: `heap.Init` of a max-heap in which equal children do not rise. */
function root(totals: ArrayLike<number>): number {
  const heap = Array.from({ length: totals.length }, (_, i) => i);
  for (let from = Math.floor(heap.length / 2) - 1; from >= 0; from--) {
    for (let at = from, child = 2 * at + 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && totals[heap[child + 1]!]! > totals[heap[child]!]!) child++;
      if (totals[heap[child]!]! <= totals[heap[at]!]!) break;
      [heap[at], heap[child]] = [heap[child]!, heap[at]!];
      at = child;
    }
  }
  return heap[0]!;
}

/** Scores from 0 to `most`: the smaller, the more ties. */
function made(n: number, weights: readonly number[], most: number): { scores: Scores; selected: NodeSelected } {
  const nodes = Int32Array.from({ length: n }, (_, i) => 3 * i + 1);
  const plugins = weights.map((weight, plugin) => {
    const normalized = Uint8Array.from({ length: n }, () => draw(most + 1));
    return { plugin, weight, raw: normalized, normalized };
  });
  const totals = Float64Array.from(nodes, (_, i) => plugins.reduce((sum, p) => sum + p.normalized[i]! * p.weight, 0));
  const at = new Map(Array.from(nodes, (node, i) => [node, i]));
  const picked = root(totals);
  const selected: NodeSelected = {
    kind: "NodeSelected",
    node: nodes[picked]!,
    rule: "heap",
    n_scored: n,
    total: totals[picked]!,
    n_tied: 1,
    runner_up: -1,
    runner_up_total: 0,
    deciders: [],
  };
  return { scores: { nodes, plugins, totals, at }, selected };
}

const winnerAt = ({ scores, selected }: Weighing, plugin: number, weight: number): number =>
  weigh(scores, selected, new Map([[plugin, weight]])).picked;

test.each([1, 2, 3, 7, 8, 100])("among %i nodes the root of Go's heap wins", (n) => {
  for (let i = 0; i < 60; i++) {
    const totals = Float64Array.from({ length: n }, () => draw(4));
    expect(heapRoot(totals)).toBe(root(totals));
  }
});

describe("other weights", () => {
  test.each([2, 5, 100])("pick as a scheduler with them would, scores up to %i", (most) => {
    for (let i = 0; i < 40; i++) {
      const { scores, selected } = made(1 + draw(40), [3, 2, 1, 1], most);
      const weights = new Map([
        [0, 4 + draw(6)],
        [2, draw(6)],
      ]);
      const tried = weigh(scores, selected, weights);
      const plain = Array.from(scores.nodes, (_, at) =>
        scores.plugins.reduce((sum, p) => sum + p.normalized[at]! * (weights.get(p.plugin) ?? p.weight), 0),
      );
      expect([...tried.scores.totals]).toEqual(plain);
      expect(tried.picked).toBe(root(plain));
      expect(tried.selected.node).toBe(scores.nodes[tried.picked]);
      expect(tried.selected.n_tied).toBe(plain.filter((total) => total === plain[tried.picked]).length);
      const others = plain.filter((_, at) => at !== tried.picked);
      if (others.length) expect(tried.selected.runner_up_total).toBe(Math.max(...others));
    }
  });

  test("the pick stays exactly within the interval of each plugin", () => {
    for (let i = 0; i < 60; i++) {
      const { scores, selected } = made(1 + draw(30), [3, 2, 1], [2, 6, 100][i % 3]!);
      const tried = weigh(scores, selected, new Map([[1, 1 + draw(5)]]));
      for (const plugin of [0, 1, 2]) {
        const { low, high } = interval(tried, plugin);
        for (let weight = 1; weight <= 30; weight++) {
          const stays = winnerAt(tried, plugin, weight) === tried.picked;
          expect({ plugin, weight, stays }).toEqual({ plugin, weight, stays: weight >= low && weight <= high });
        }
        if (Number.isFinite(high)) expect(winnerAt(tried, plugin, high + 1)).not.toBe(tried.picked);
      }
    }
  });

  test("where lots are drawn, the recorded pick stays while it is among the best", () => {
    const { scores, selected } = made(12, [1, 1], 1);
    const drawn = { ...selected, rule: "draw" as const };
    const same = weigh(scores, drawn, new Map([[0, 2]]));
    const { low, high } = interval(weigh(scores, drawn, new Map()), 0);
    expect(low).toBeLessThanOrEqual(1);
    expect(high).toBeGreaterThanOrEqual(1);
    const totals = [...same.scores.totals];
    expect(totals[same.picked]).toBe(Math.max(...totals));
  });

  test("5,000 nodes are weighed well within a frame", () => {
    const { scores, selected } = made(5000, [3, 2, 1, 2, 2, 1, 1], 100);
    const times = Array.from({ length: 60 }, (_, i) => {
      const start = performance.now();
      const tried = weigh(scores, selected, new Map([[i % 7, i % 9]]));
      for (const { plugin } of scores.plugins) interval(tried, plugin);
      return performance.now() - start;
    }).sort((a, b) => a - b);
    expect(times[30]).toBeLessThan(33);
  });
});
