// The compiler does the testing here: what it should refuse has to be refused for the types to pass.

import { expect, test } from "vitest";

import type { Cycle, Ms, NodeIndex, Ns, PodIndex, Seq } from "./units.ts";

const pass = <Unit>(value: Unit): Unit => value;

test("a bare number becomes any unit, and no unit another", () => {
  const seq: Seq = 7;
  const node: NodeIndex = 3;
  const ms: Ms = 5;
  const ns: Ns = 5n;
  // @ts-expect-error a seq is no cycle
  expect(pass<Cycle>(seq)).toBe(7);
  // @ts-expect-error a node is no pod
  expect(pass<PodIndex>(node)).toBe(3);
  // @ts-expect-error milliseconds are no nanoseconds
  expect(pass<Ns>(ms)).toBe(5);
  // @ts-expect-error and the other way round
  expect(pass<Ms>(ns)).toBe(5n);
  expect(pass<Cycle>(seq + 1)).toBe(8);
});
