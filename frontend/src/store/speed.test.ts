// Budgets of the store: a run of 50,000 cycles over 5,000 nodes must seek within a frame.

import { describe, expect, test } from "vitest";

import { SyntheticRun } from "../testing/synthetic.ts";
import { Fold } from "./fold.ts";
import { State } from "./state.ts";

// The scheduling itself is made cheap (100 nodes found at once); the state is full-sized.
function bigRun(cycles: number): Uint8Array[] {
  return [...new SyntheticRun({ nodes: 60, pods: cycles, chunk: 20_000 }).chunks()];
}

describe("speed of the store", () => {
  const chunks = bigRun(20_000);
  const fold = new Fold();
  const began = performance.now();
  for (const chunk of chunks) fold.append(chunk);
  const folded = performance.now() - began;
  const state = new State(fold);

  test("folds at least 2,000 cycles per second", () => {
    expect(fold.chronicle.nCycles).toBeGreaterThanOrEqual(20_000);
    expect(fold.chronicle.nCycles / (folded / 1000)).toBeGreaterThan(2_000);
  });

  test("seeks anywhere in less than 20 ms", () => {
    const { endMoment, nCycles } = fold.chronicle;
    state.seek(endMoment.at(nCycles));
    const took: number[] = [];
    for (let i = 0; i < 200; i++) {
      const cycle = i % 2 ? nCycles - i : i + 1;
      const from = performance.now();
      state.seek(endMoment.at(cycle));
      took.push(performance.now() - from);
    }
    took.sort((a, b) => a - b);
    expect(took[Math.floor(took.length * 0.95)]).toBeLessThan(20);
  });
});
