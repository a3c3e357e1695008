import { expect, test } from "vitest";

import { points } from "./optimum.ts";

const step = (elapsed_s: number, incumbent: number | null, bound: number | null) => ({
  objective: "placed",
  elapsed_s,
  incumbent,
  bound,
});

test("lines run from the first step to the time limit, between the lowest and the highest value", () => {
  const steps = [step(0, null, 10), step(5, 0, 10), step(7.5, 5, 5)];
  expect(points(steps, "bound", 10)).toBe("0,4 300,4 450,60");
  expect(points(steps, "incumbent", 10)).toBe("300,116 450,60");
});

test("a search that takes longer than its limit still fits", () => {
  expect(points([step(0, 1, 2), step(20, 2, 2)], "incumbent", 10)).toBe("0,116 600,4");
});

test("a single step and a single value divide by nothing", () => {
  expect(points([step(3, 7, 7)], "bound", 3)).toBe("0,116");
});
