import { expect, test } from "vitest";
import { durationText, withStep } from "./steps.ts";

const STEP = "- at: 10s\n  drain: NODE\n";

test("the first step begins the list", () => {
  expect(withStep("", STEP)).toBe(`steps:\n${STEP}`);
  expect(withStep("until: 5m\n\n", STEP)).toBe(`until: 5m\nsteps:\n${STEP}`);
  expect(withStep("steps: []\nuntil: 5m", STEP)).toBe(`steps:\n${STEP}until: 5m\n`);
});

test("another step comes after the last, indented as the others are", () => {
  expect(withStep("steps:\n  - at: 1s\n    cordon: a\nuntil: 5m\n", STEP)).toBe(
    "steps:\n  - at: 1s\n    cordon: a\n  - at: 10s\n    drain: NODE\nuntil: 5m\n",
  );
  expect(withStep(`steps:\n${STEP}`, STEP)).toBe(`steps:\n${STEP}${STEP}`);
});

test("times are written as Go writes them", () => {
  expect([0, 5e6, 1e10, 9e10, 3_660e9].map(durationText)).toEqual(["0s", "5ms", "10s", "1m30s", "1h1m"]);
});
