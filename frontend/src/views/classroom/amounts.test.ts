import { expect, test } from "vitest";

import { amount, freeOf, lacks, requested } from "./amounts.ts";
import { node } from "./pictured.ts";

const GI = 1024 ** 3;

test.each([
  ["cpu", 2000, "2"],
  ["cpu", 250, "0.25"],
  ["memory", 8 * GI, "8Gi"],
  ["nvidia.com/gpu", 2, "2"],
])("%s %i is %s", (resource, value, text) => expect(amount(resource, value)).toBe(text));

test("both sides of a comparison have one unit", () => {
  expect(freeOf("memory", GI / 2, 4 * GI)).toEqual(["0.5Gi", "4Gi"]);
  expect(freeOf("memory", 0, 4 * GI)).toEqual(["0", "4Gi"]);
  expect(freeOf("cpu", 500, 4000)).toEqual(["0.5", "4"]);
});

test("a pod's requests are listed, and what a node is short of", () => {
  const requests = { cpu: 2000, memory: 8 * GI };
  expect(requested(requests)).toEqual(["2 cpu", "8Gi"]);
  expect(lacks(node("attic", { room: { cpu: [1800, 1800], memory: [3 * GI, 3 * GI] } }), requests)).toEqual([
    "0.2 cpu",
    "5Gi",
  ]);
  expect(lacks(node("kitchen", { room: { cpu: [4000, 4000] } }), requests)).toEqual([]);
});
