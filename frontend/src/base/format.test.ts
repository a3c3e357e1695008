import { describe, expect, test } from "vitest";

import { clock, duration, fraction, quantity } from "./format.ts";

describe("quantities", () => {
  test.each([
    ["cpu", 1500, "1.5"],
    ["cpu", 250, "250m"],
    ["cpu", -100, "-100m"],
    ["cpu", 4000, "4"],
    ["cpu", 0, "0"],
    ["memory", 2 ** 31, "2Gi"],
    ["memory", 1.5 * 2 ** 30, "1.5Gi"],
    ["cpu", 51_064, "51.06"],
    ["memory", 1000, "1000"],
    ["memory", 204.2 * 2 ** 30, "204.2Gi"],
    ["memory", 2 ** 20 - 1, "1Mi"],
    ["nvidia.com/gpu", 4, "4"],
    ["memory", -(2 ** 30), "-1Gi"],
  ])("%s %d is %s", (resource, amount, text) => expect(quantity(resource, amount)).toBe(text));
});

describe("fractions", () => {
  test.each([
    ["cpu", 890, 7800, "0.9 / 7.8"],
    ["cpu", 16000, 32000, "16 / 32"],
    ["memory", 5.9 * 2 ** 30, 31.4 * 2 ** 30, "5.9 / 31 Gi"],
    ["nvidia.com/gpu", 1, 4, "1 / 4"],
  ])("%s %d of %d is %s", (resource, part, whole, text) => expect(fraction(resource, part, whole)).toBe(text));
});

describe("times", () => {
  test.each([
    [0, "0ms"],
    [850, "850ms"],
    [1000, "1s"],
    [2149, "2.1s"],
    [200_000, "3m20s"],
    [14_700_000, "4h05m"],
  ])("%d ms last %s", (ms, text) => expect(duration(ms)).toBe(text));
  test("the clock counts hours", () => expect(clock(843_200)).toBe("00:14:03.200"));
});
