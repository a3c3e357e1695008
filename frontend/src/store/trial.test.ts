import { describe, expect, test } from "vitest";

import { standingsAt } from "./trial.ts";

const UNBROKEN = { violates_pdb: false, budgets: [] };
const reprieve = (pod: number, kept: boolean) => ({ ...UNBROKEN, pod, kept, plugin: kept ? -1 : 4 });
const dryRun = { removed: [7, 8, 9], reprieves: [reprieve(9, false), reprieve(7, true)] };

describe("a dry run that is played", () => {
  test("begins with every pod of lower priority away", () => {
    const { standings, tried } = standingsAt(dryRun, 0);
    expect([...standings]).toEqual([
      [9, "removed"],
      [7, "removed"],
      [8, "removed"],
    ]);
    expect(tried).toBe(-1);
  });

  test("tries them one by one: back on the node, or to be evicted", () => {
    expect([...standingsAt(dryRun, 1).standings.values()]).toEqual(["victim", "removed", "removed"]);
    expect(standingsAt(dryRun, 2)).toEqual({
      standings: new Map([
        [9, "victim"],
        [7, "reprieved"],
        [8, "removed"],
      ]),
      tried: 7,
    });
  });
});
