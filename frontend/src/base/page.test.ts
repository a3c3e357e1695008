import { afterEach, expect, test, vi } from "vitest";

import { documentAt, filled } from "./page.ts";

afterEach(() => vi.unstubAllGlobals());

test("a text is filled with values by their names", () => {
  expect(filled("{n} of {all}, {n} left", { n: 1, all: "9" })).toBe("1 of 9, 1 left");
});

test("a document that is refused, cut off or no JSON is none", async () => {
  const answers = [
    () => Promise.resolve(new Response('{"cycles": 3}')),
    () => Promise.resolve(new Response("{}", { status: 503 })),
    () => Promise.resolve(new Response("<p>")),
    () => Promise.reject(new TypeError("no network")),
  ];
  const found = [];
  for (const answer of answers) {
    vi.stubGlobal("fetch", answer);
    found.push(await documentAt("/api/v1/runs/1/"));
  }
  expect(found).toEqual([{ cycles: 3 }, null, null, null]);
});
