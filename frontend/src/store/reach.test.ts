import { describe, expect, it } from "vitest";

import { linesOf, measureOf, reachAfter, type Reach, type ReachStep } from "./reach.ts";

const step = (cycle: number, since: number, high: number, low: number, value: number | null): ReachStep => ({
  cycle,
  since,
  exact: cycle - since <= 1,
  placed: high + low,
  by_priority: { "0": low, "100": high },
  value,
});

const REACH: Reach = [step(0, 0, 3, 5, 90), step(2, 1, 3, 5, 70), step(9, 4, 3, 4, 80)];

describe("what is still in reach", () => {
  it("is all of it until a cycle takes something away", () => {
    expect(reachAfter(REACH, 1)).toEqual({ most: REACH[0], least: REACH[0] });
    expect(reachAfter(REACH, 2)).toEqual({ most: REACH[1], least: REACH[1] });
    expect(reachAfter([], 1)).toBeNull();
  });

  it("lies between two steps where it is not known which cycle took it", () => {
    expect(reachAfter(REACH, 4)).toEqual({ most: REACH[1], least: REACH[1] });
    expect(reachAfter(REACH, 5)).toEqual({ most: REACH[1], least: REACH[2] });
    expect(reachAfter(REACH, 9)).toEqual({ most: REACH[2], least: REACH[2] });
  });

  it("is measured by what comes first in the objective and was lost", () => {
    expect(measureOf(REACH)!(REACH[2]!)).toBe(4);
    expect(measureOf(REACH.slice(0, 2))!(REACH[1]!)).toBe(70);
    expect(measureOf(REACH.slice(0, 1))).toBeNull();
  });

  it("is a line of steps, with one below it as far as it is a bound", () => {
    const { most, least } = linesOf(
      REACH,
      (cycle) => cycle * 10,
      (share) => 20 - 20 * share,
      10,
    );
    const text = (places: readonly { x: number; y: number }[]): string =>
      places.map(({ x, y }) => `${x},${y}`).join(" ");
    expect(text(most)).toBe("0,0 20,0 20,0 90,0 90,20 100,20");
    expect(text(least)).toBe("0,0 20,0 20,0 40,0 40,20 100,20");
  });

  it("stays at the top where nothing was lost", () => {
    const { most } = linesOf(
      REACH.slice(0, 1),
      (cycle) => cycle,
      (share) => share,
      7,
    );
    expect(most).toEqual([
      { x: 0, y: 1 },
      { x: 7, y: 1 },
    ]);
  });
});
