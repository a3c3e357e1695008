// Amounts on handles: read as kubectl writes them, on a scale that holds few pieces and many.

import { describe, expect, test } from "vitest";

import { amountOf, limitBeside, PLACES, scaleOf } from "./lab-amounts.ts";

describe("an amount", () => {
  test.each([
    ["cpu", "500m", 500],
    ["cpu", "2", 2000],
    ["cpu", "0.1", 100],
    ["memory", "1.5Gi", 1.5 * 2 ** 30],
    ["memory", "1e3", 1000],
    ["memory", "128974848", 128974848],
    ["nvidia.com/gpu", "4", 4],
    ["cpu", "much", null],
    ["cpu", "", null],
    ["cpu", "2 GB", null],
  ])("%s %s", (resource, text, amount) => {
    expect(amountOf(resource, text)).toBe(amount);
  });
});

describe("a scale", () => {
  test("of few pieces has a place for each", () => {
    const scale = scaleOf(8);
    expect([scale.places, scale.at(3), scale.placeOf(3), scale.placeOf(20)]).toEqual([8, 3, 3, 8]);
  });

  test.each([16_000, 80_000, 64 * 2 ** 30, 3 * 2 ** 40])("up to %d grows with each place", (most) => {
    const scale = scaleOf(most);
    const amounts = Array.from({ length: PLACES + 1 }, (_, place) => scale.at(place));
    expect(amounts[0]).toBe(0);
    expect(amounts.at(-1)).toBe(most);
    for (let place = 1; place <= PLACES; place++) {
      expect(amounts[place]!).toBeGreaterThanOrEqual(amounts[place - 1]!);
      expect(Math.abs(scale.placeOf(amounts[place]!) - place)).toBeLessThanOrEqual(4);
    }
    expect(new Set(amounts).size).toBeGreaterThan(0.7 * PLACES);
  });
});

describe("a limit", () => {
  test.each([
    ["cpu", "4", "2", "1", "2"],
    ["cpu", "1", "300m", "600m", "2"],
    ["nvidia.com/gpu", "1", "1", "3", "3"],
    ["memory", "2Gi", "0", "1Gi", "2Gi"],
    ["memory", "2Gi", "1Gi", "lots", null],
  ])("%s %s beside %s, beside %s: %s", (resource, limit, before, after, found) => {
    expect(limitBeside(resource, limit, before, after)).toBe(found);
  });
});
