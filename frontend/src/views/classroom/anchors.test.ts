import { expect, test } from "vitest";

import { boxAt, moved } from "./anchors.ts";

const WIDE = [
  { x: 0, y: 0, width: 100, height: 50 },
  { x: 120, y: 0, width: 100, height: 50 },
];
const TALL = [
  { x: 0, y: 0, width: 300, height: 80 },
  { x: 0, y: 90, width: 300, height: 80 },
];

test("a point stays on its node, at the same place of it", () => {
  expect(moved([145, 25], WIDE, TALL)).toEqual([75, 130]);
  expect(moved(moved([145, 25], WIDE, TALL), TALL, WIDE)).toEqual([145, 25]);
});

test("between nodes the nearest one counts", () => {
  expect(boxAt([105, 10], WIDE)).toBe(0);
  expect(boxAt([118, 10], WIDE)).toBe(1);
  expect(boxAt([5, 5], [])).toBe(-1);
});

test("the edge of a circle goes with its centre", () => {
  expect(moved([118, 25], WIDE, TALL, 0)).toEqual([354, 40]);
});
