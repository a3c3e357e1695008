import { expect, test } from "vitest";

import { isSavedRun, sizeText } from "./upload.ts";

test("sizes are said in the largest unit that fits", () => {
  expect([0, 1023, 1024, 10_239, 10_240, 1_572_864, 2 ** 40].map(sizeText)).toEqual([
    "0 B",
    "1023 B",
    "1.0 KiB",
    "10.0 KiB",
    "10 KiB",
    "1.5 MiB",
    "1024 GiB",
  ]);
});

test("one saved run is opened; anything else is a cluster", () => {
  expect(isSavedRun(["Monday.KVIZ"])).toBe(true);
  expect(isSavedRun(["nodes.yaml"])).toBe(false);
  expect(isSavedRun(["a.kviz", "b.kviz"])).toBe(false);
  expect(isSavedRun([])).toBe(false);
});
