// What a real scheduler tells is shown, and nothing else.

import { encode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";

import { cycleRecord, decidingPoint } from "./cycle.ts";
import type { CycleRecord } from "./record.ts";
import { Fold } from "./fold.ts";
import { eventsAfter, laterOf, observedStory } from "./observed.ts";
import { unknownReason } from "./rows.ts";
import { Verdict, verdictColumn, type CycleDetail } from "./verdicts.ts";

const OBSERVED = ["RunStarted", "0", 0, 1_000n, [], [["", []]], [], true];
const POD = ["PodAdded", 0, "a", "x", "default", 0, [], "", -1, -1, "Pending", false];
const asked = (verb: string, n: number): unknown[] => ["ExtenderCalled", "kviz", verb, n, n, 5, "", "", 0, 200];
const attempt = (cycle: number, ...events: unknown[][]): unknown[][] => [
  ["CycleStarted", cycle, 0, cycle, 0, 0, 0, 9],
  ...events,
  ["CycleFinished", cycle, 6, -1],
];
const passed = (n: number): unknown[] => ["FilterFinished", -1, n, -1, []];

function fold(...events: unknown[][]): Fold {
  const fold = new Fold();
  fold.append(encode([0, [OBSERVED, POD, ...events]], { useBigInt64: true }));
  return fold;
}

const outcomes = (record: CycleRecord): Record<string, string> =>
  Object.fromEntries(record.points.map(({ point, outcome }) => [point, outcome]));

describe("an attempt that found nodes", () => {
  const trace = fold(...attempt(1, passed(3), asked("filter", 3), asked("prioritize", 2)));
  const record = cycleRecord(trace, 1);

  test("has a Filter and a Score, and nothing is told of the other points", () => {
    const { Filter, Score, ...others } = outcomes(record);
    expect([Filter, Score]).toEqual(["passed", "passed"]);
    expect(new Set(Object.values(others))).toEqual(new Set(["unknown"]));
    expect(record.points.filter((point) => point.ran).map((point) => [point.point, point.flow])).toEqual([
      ["Filter", { into: -1, out: 3 }],
      ["Score", { into: 2, out: -1 }],
    ]);
  });

  test("says how many passed, and no more", () => {
    expect(observedStory(record, null)).toEqual({ key: "observed.passed", params: { n: 3 } });
    expect(observedStory(record, "Score")).toEqual({ key: "observed.scores", params: { n: 2 } });
  });

  test("leaves the verdict on other nodes open", () => {
    const detail = {
      statusOf: Uint16Array.from([0, 1, 1]),
      statuses: [{ code: "Success", plugin: -1, reasons: [] }],
      examined: Int32Array.from([1, 2]),
      feasible: Int32Array.from([1, 2]),
      nominated: new Map(),
      scores: null,
      partScores: null,
      dryRun: null,
      calls: new Map(),
    } satisfies CycleDetail;
    expect([...verdictColumn(record, detail, { point: null, plugin: null }, 4)]).toEqual([
      Verdict.UNKNOWN,
      Verdict.FEASIBLE,
      Verdict.FEASIBLE,
      Verdict.UNKNOWN,
    ]);
    expect(unknownReason(record)).toBe("unknown.filtered");
    const alone = cycleRecord(fold(...attempt(1, passed(1), asked("filter", 1))), 1);
    expect(unknownReason(alone)).toBe("unknown.maybe");
  });
});

test("an attempt that asks about evictions fitted nowhere", () => {
  const record = cycleRecord(fold(...attempt(1, passed(0), ["PreemptionStarted", -1, -1, -1], asked("preempt", 4))), 1);
  expect(outcomes(record)).toMatchObject({ Filter: "failed", PostFilter: "passed", Score: "unknown" });
  expect(observedStory(record, null)).toEqual({ key: "observed.evicts", params: { n: 4 } });
  expect(decidingPoint(record)).toBe("PostFilter");
});

test("later questions tell what became of a pod", () => {
  const trace = fold(
    ...attempt(1, passed(2), asked("filter", 2)),
    ["ClockAdvanced", 2_000_000n],
    ["NominationChanged", 0, 5],
    ...attempt(2, passed(1), asked("filter", 1)),
    ["ClockAdvanced", 3_000_000n],
    ["Bound", 0, 5],
  );
  expect(laterOf(trace, cycleRecord(trace, 1))).toEqual({ node: 5, nominated: 5, retriedIn: 2 });
  expect(laterOf(trace, cycleRecord(trace, 2))).toEqual({ node: 5, nominated: -1, retriedIn: 0 });
});

test("what a followed scheduler said of a pod belongs to the decision before it", () => {
  const said = (text: string): unknown[] => ["EventRecorded", 0, "Warning", "FailedScheduling", text];
  const decision = (cycle: number): unknown[][] => [
    ["CycleStarted", cycle, 0, cycle, 0, 0, 0, 9],
    ["CycleFinished", cycle, 1, -1, "no node"],
  ];
  const trace = fold(...decision(1), said("first"), said("again"), ...decision(2), said("second"));
  const texts = (cycle: number): string[] => eventsAfter(trace, cycleRecord(trace, cycle)).map((each) => each.message);
  expect(texts(1)).toEqual(["first", "again"]);
  expect(texts(2)).toEqual(["second"]);
  expect(new Set(Object.values(outcomes(cycleRecord(trace, 1))))).toEqual(new Set(["unknown"]));
});
