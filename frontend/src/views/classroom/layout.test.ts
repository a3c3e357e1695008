import { describe, expect, it } from "vitest";

import { layOut, WIDTH } from "./layout.ts";

const many = (n: number, zones: number): string[] =>
  Array.from({ length: n }, (_, i) => `z${Math.floor((i * zones) / n)}`);

describe("the small map", () => {
  it.each([
    [1, 1],
    [3, 1],
    [9, 3],
    [40, 4],
    [200, 3],
  ])("has %i nodes in %i zones apart from each other, and as tall as a pointer reaches", (n, zones) => {
    const { tiles, height } = layOut(many(n, zones));
    expect(tiles).toHaveLength(n);
    expect(height).toBeLessThanOrEqual(1000);
    for (const [i, a] of tiles.entries()) {
      expect(a.x + a.width).toBeLessThanOrEqual(WIDTH + 0.001);
      expect(a.height).toBeGreaterThan(0);
      for (const b of tiles.slice(i + 1)) {
        const apart =
          a.x + a.width <= b.x + 0.001 ||
          b.x + b.width <= a.x + 0.001 ||
          a.y + a.height <= b.y ||
          b.y + b.height <= a.y;
        expect(apart).toBe(true);
      }
    }
  });

  it("begins a zone in a row of its own, below its name", () => {
    const { tiles, zones } = layOut(["a", "a", "b"]);
    expect(zones.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(tiles[0]!.y).toBe(tiles[1]!.y);
    expect(tiles[2]!.x).toBe(0);
    expect(tiles[2]!.y).toBeGreaterThan(zones[1]!.y);
  });

  it("names no zone where there is none", () => {
    expect(layOut(["", ""]).zones).toEqual([]);
  });
});
