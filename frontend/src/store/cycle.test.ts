// A cycle's points as the header events tell them, over hand-made traces.

import { encode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";

import { cycleRecord, decidingPoint } from "./cycle.ts";
import type { PointStep } from "./record.ts";
import { Fold } from "./fold.ts";
import { permitWaitOf } from "./lanes.ts";
import { State } from "./state.ts";

const PLUGINS = ["Sort", "Taints", "Fit", "Images", "Binder", "Extender", "Devices", "DefaultPreemption", "Later"];
const OK = ["Success", -1, []];
const PROFILE = [
  "default",
  [
    ["QueueSort", [0], []],
    ["PreFilter", [2], []],
    ["Filter", [1, 2], []],
    ["PostFilter", [6, 7, 8], []],
    ["PreScore", [1, 3], []],
    ["Score", [1, 3], [3, 1]],
    ["Permit", [], []],
    ["Bind", [4], []],
  ],
];
const PRELUDE = [
  ["RunStarted", "0", 0, 1_000n, PLUGINS, [PROFILE], []],
  ["PodAdded", 0, "a", "x", "default", 0, [], "", -1, -1, "Pending", false],
  ["PodAdded", 1, "a", "y", "default", 0, [], "", -1, -1, "Pending", false],
];

function fold(...events: unknown[][]): Fold {
  const fold = new Fold();
  fold.append(encode([0, [...PRELUDE, ...events]], { useBigInt64: true }));
  return fold;
}

const started = (cycle: number, pod: number): unknown[] => ["CycleStarted", cycle, pod, 1, 0, 1, 0, 9];
const point = (steps: readonly PointStep[], name: string): PointStep => steps.find((s) => s.point === name)!;

describe("a cycle that binds", () => {
  const record = cycleRecord(
    fold(
      started(1, 0),
      ["PreFilterFinished", OK, [], null],
      [
        "FilterFinished",
        9,
        4,
        9,
        [
          [1, 3],
          [5, 2],
        ],
        false,
      ],
      ["PreScoreFinished", OK, [3]],
      ["NodeSelected", 7, "heap", 4, 300, 1, 6, 290, [1]],
      ["PointFinished", 0, "Reserve", OK],
      ["PointFinished", 0, "Permit", OK],
      ["CycleFinished", 1, 0, 7, "", [], []],
      ["ClockAdvanced", 2_000_000n],
      started(2, 1),
      ["PointFinished", 0, "PreBind", OK],
      ["PointFinished", 0, "Bind", ["Success", 4, []]],
      ["CycleFinished", 2, 4, -1, "", [], []],
    ),
    1,
  );

  test("counts nodes from plugin to plugin, extenders last", () => {
    const filter = point(record.points, "Filter");
    expect(filter.flow).toEqual({ into: 9, out: 4 });
    expect(filter.plugins.map((p) => [PLUGINS[p.plugin], p.outcome, p.rejected])).toEqual([
      ["Taints", "failed", 3],
      ["Fit", "passed", 0],
      ["Extender", "failed", 2],
    ]);
  });

  test("knows its binding cycle, which runs while the next pod is scheduled", () => {
    expect(point(record.points, "Bind").outcome).toBe("passed");
    expect(point(record.points, "Bind").ran).toBe(true);
    expect(record.seqs).toHaveLength(8);
    expect(point(record.points, "PostBind").outcome).toBe("unreached");
  });

  test("skips what has nothing to do", () => {
    expect(point(record.points, "PostFilter")).toMatchObject({ outcome: "skipped", ran: false });
    expect(point(record.points, "Permit")).toMatchObject({ outcome: "skipped", ran: true });
    expect(point(record.points, "Score").plugins.map((p) => [p.outcome, p.weight])).toEqual([
      ["passed", 3],
      ["skipped", 1],
    ]);
  });

  test("is decided by scoring", () => expect(decidingPoint(record)).toBe("Score"));
});

describe("a cycle that fails", () => {
  test("in PreFilter has not asked any Filter plugin", () => {
    const record = cycleRecord(
      fold(
        started(1, 0),
        ["PreFilterFinished", ["UnschedulableAndUnresolvable", 2, ["no"]], [], null],
        ["CycleFinished", 1, 1, -1, "no", [2], []],
      ),
      1,
    );
    expect(point(record.points, "PreFilter")).toMatchObject({ outcome: "failed", flow: null });
    expect(point(record.points, "Filter").plugins.map((p) => p.outcome)).toEqual(["unevaluated", "unevaluated"]);
    expect(decidingPoint(record)).toBe("PreFilter");
  });

  test("at the only node left skips scoring", () => {
    const record = cycleRecord(
      fold(
        started(1, 0),
        ["PreFilterFinished", OK, [], [3]],
        ["FilterFinished", 1, 1, 9, [], false],
        ["NodeSelected", 3, "single", 1],
        ["PointFinished", 0, "Reserve", OK],
        ["PointFinished", 0, "Permit", ["Unschedulable", 4, ["not now"]]],
        ["CycleFinished", 1, 1, -1, "", [4], []],
      ),
      1,
    );
    expect(point(record.points, "PreFilter").flow).toEqual({ into: 9, out: 1 });
    expect(point(record.points, "PreScore").outcome).toBe("skipped");
    expect(point(record.points, "Score").outcome).toBe("skipped");
    expect(point(record.points, "Permit").outcome).toBe("failed");
    expect(decidingPoint(record)).toBe("Permit");
  });
});

describe("PostFilter", () => {
  const preempting = (code: unknown[], node: number) =>
    cycleRecord(
      fold(
        started(1, 0),
        ["FilterFinished", 9, 0, 9, [], false],
        ["PostFilterFinished", code, "override", node],
        ["CycleFinished", 1, 1, -1, "", [], []],
      ),
      1,
    );

  test("ends at the first plugin that makes room", () => {
    const { points } = preempting(OK, 3);
    expect(point(points, "PostFilter").plugins.map((p) => p.outcome)).toEqual(["failed", "passed", "unevaluated"]);
  });

  test("in which none makes room has asked all", () => {
    const { points } = preempting(["Unschedulable", -1, ["no"]], -1);
    expect(point(points, "PostFilter").plugins.map((p) => p.outcome)).toEqual(["failed", "failed", "failed"]);
  });
});

describe("calls to extenders", () => {
  const called = (pod: number, verb: string): unknown[] => ["ExtenderCalled", "http://e", verb, 3, 2, 5, "", "", pod];
  const record = cycleRecord(
    fold(
      started(1, 0),
      ["FilterFinished", 9, 4, 9, [], false],
      called(0, "filter"),
      called(0, "prioritize"),
      called(1, "bind"),
      ["NodeSelected", 7, "heap", 4, 300, 1, 6, 290, [1]],
      ["CycleFinished", 1, 0, 7, "", [], []],
      started(2, 1),
      called(0, "bind"),
    ),
    1,
  );

  test("stand at the point where they were made, also in the binding cycle", () => {
    expect(record.extenders.map((call) => call.verb)).toEqual(["filter", "prioritize", "bind"]);
    expect(["Filter", "Score", "Bind", "PostFilter"].map((name) => point(record.points, name).calls)).toEqual([
      [0],
      [1],
      [2],
      [],
    ]);
  });
});

describe("a pod that two plugins hold on Permit", () => {
  const trace = fold(
    ["RunStarted", "0", 0, 1_000_000_000n, PLUGINS, [["default", [["Permit", [1, 2, 3], []]]]], []],
    started(1, 0),
    ["PointFinished", 0, "Permit", ["Wait", -1, ["wait"]]],
    ["PermitWaiting", 0, 1, 9_000_000_000n],
    ["PermitWaiting", 0, 2, 4_000_000_000n],
    ["CycleFinished", 1, 3, -1, "", [], []],
  );

  test("waits at both, and passes the third", () => {
    const permit = point(cycleRecord(trace, 1).points, "Permit");
    expect(permit.outcome).toBe("waiting");
    expect(permit.plugins.map((plugin) => plugin.outcome)).toEqual(["waiting", "waiting", "passed"]);
  });

  test("waits until the first of them gives up", () => {
    const state = new State(trace);
    state.seek(trace.trace.length);
    expect(permitWaitOf(state, 0)).toEqual({ plugins: [1, 2], untilMs: 3000 });
    expect(permitWaitOf(state, 1)).toBeNull();
  });
});
