import { describe, expect, test } from "vitest";

import type { Group } from "../../store/grouping.ts";
import { find, layout, nextNode, nodeAt, ZOOMS } from "./layout.ts";

function groups(...sizes: number[]): Group[] {
  let next = 0;
  return sizes.map((n, i) => ({ name: `g${i}`, nodes: Array.from({ length: n }, () => next++) }));
}

describe("layout of the map", () => {
  test.each([
    [6, 700, 480],
    [1523, 700, 480],
    [5000, 900, 600],
    [5000, 360, 300],
    [1, 300, 200],
  ])("fits %d nodes into %d by %d", (n, width, height) => {
    const third = Math.ceil(n / 3);
    const map = layout(groups(third, third, Math.max(0, n - 2 * third)), width, height, 1);
    expect(map.height).toBeLessThanOrEqual(height);
    const last = map.boxes.flatMap((box) => box.group.nodes).at(-1)!;
    expect(find(map, last)!.y + map.cell.height).toBeLessThanOrEqual(height);
  });

  test("leaves room for the names of groups while that makes sense", () => {
    const zones = groups(8, 8, 8, 8, 8, 8).map((group, i) => ({ ...group, name: `ap-southeast-${i}a` }));
    for (const { width } of layout(zones, 660, 280, 1).boxes) expect(width).toBeGreaterThan(17 * 7);
    const endless = groups(3, 3).map((group) => ({ ...group, name: "x".repeat(500) }));
    expect(layout(endless, 660, 280, 1).boxes).toHaveLength(2);
  });

  test("gives the width that few nodes leave over to their cards", () => {
    const taints = groups(1, 2, 1, 1, 1, 2).map((group) => ({ ...group, name: "x".repeat(40) }));
    const { cell } = layout(taints, 660, 280, 1);
    expect(cell.width).toBeGreaterThan(120);
  });

  test("finds under the pointer the node that it placed there", () => {
    const map = layout(groups(40, 7, 0, 90), 800, 500, 1);
    for (const node of [0, 39, 40, 46, 47, 136]) {
      const { x, y } = find(map, node)!;
      expect(nodeAt(map, x + 1, y + 1)).toBe(node);
    }
    expect(nodeAt(map, 1, 1)).toBe(-1);
  });

  test("walks by arrow keys and stops at the edges", () => {
    const map = layout(groups(4, 4), 900, 400, 1);
    expect(nextNode(map, 0, "ArrowRight")).toBe(1);
    expect(nextNode(map, 3, "ArrowRight")).toBe(4);
    expect(nextNode(map, 0, "ArrowLeft")).toBe(-1);
    expect(nextNode(map, 0, "End")).toBe(7);
    const below = nextNode(map, 0, "ArrowDown");
    expect(below === -1 || find(map, below)!.y > find(map, 0)!.y).toBe(true);
  });

  test("grows beyond the view when zoomed in", () => {
    const all = groups(2000);
    expect(layout(all, 700, 480, 3).height).toBeGreaterThan(480);
    expect(layout(all, 700, 480, 3).cell.width).toBeGreaterThan(layout(all, 700, 480, 1).cell.width);
  });

  test("keeps cells within their boxes at every zoom", () => {
    for (const zoom of ZOOMS) {
      const map = layout(groups(3, 1, 2), 758, 464, zoom);
      for (const box of map.boxes) expect(map.cell.width).toBeLessThanOrEqual(box.width);
    }
  });
});
