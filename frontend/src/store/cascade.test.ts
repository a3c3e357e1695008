// A chain of preemptions: the victim's replacement evicts in turn, and a nomination is lost.

import { encode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";

import { Queue, Result } from "../wire/events.ts";
import { cascadeOf, preemptions } from "./cascade.ts";
import { Fold } from "./fold.ts";

const [HIGH, MIDDLE, BACK, LOW, LATE] = [0, 1, 2, 3, 4];

function pod(number: number, name: string, owner: string, node = -1): unknown[] {
  return ["PodAdded", number, "shop", name, "default-scheduler", 0, [], owner, node, -1, "Pending", false];
}

function cycle(number: number, preemptor: number, victim: number, lost = -1): unknown[][] {
  return [
    ["CycleStarted", number, preemptor, 1, 0, Queue.ACTIVE, 0, 2],
    ["CycleFinished", number, Result.UNSCHEDULABLE, -1, "", [], []],
    ...(lost < 0 ? [] : [["NominationChanged", lost, -1]]),
    ["NominationChanged", preemptor, 0],
    ["PodEvicted", victim, preemptor, "Preempted", 0n],
  ];
}

/** A preemption on another node than the first. */
function elsewhere(number: number, preemptor: number, victim: number, node: number): unknown[][] {
  return cycle(number, preemptor, victim).map((row) => (row[0] === "NominationChanged" ? [row[0], row[1], node] : row));
}

function fold(...cycles: unknown[][][]): Fold {
  const events = [
    ["RunStarted", "test", 0, 0n, [], [], []],
    pod(HIGH, "high", ""),
    pod(MIDDLE, "middle-a", "ReplicaSet/middle", 0),
    pod(BACK, "middle-b", "ReplicaSet/middle"),
    pod(LOW, "low", "", 1),
    pod(LATE, "late", ""),
    ...cycles.flat(),
  ];
  const made = new Fold();
  made.append(encode([0, events], { useBigInt64: true }));
  return made;
}

describe("a cascade", () => {
  test("goes on when an evicted pod's replacement evicts in turn", () => {
    const run = fold(cycle(1, HIGH, MIDDLE), cycle(2, BACK, LOW));
    expect(preemptions(run).map(({ after }) => after)).toEqual([null, { cycle: 1, link: "returned" }]);
    const tree = cascadeOf(run, 2)!;
    expect(tree.preemption.cycle).toBe(1);
    expect(tree.then.map((next) => next.preemption.cycle)).toEqual([2]);
  });

  test("goes on when a pod loses its nomination and has to look elsewhere", () => {
    const run = fold(cycle(1, LATE, MIDDLE), cycle(2, HIGH, LOW, LATE), cycle(3, LATE, BACK));
    expect(preemptions(run)[2]!.after).toEqual({ cycle: 2, link: "outbid" });
  });

  test("goes on when room is made again, the nomination being lost without having been cleared", () => {
    const run = fold(
      [["NodeAdded", 0, "west", "", {}, [], false, []]],
      [["NodeAdded", 1, "east", "", {}, [], false, []]],
      cycle(1, HIGH, MIDDLE),
      [["NodeDeleted", 0]],
      elsewhere(2, HIGH, LOW, 1),
    );
    expect(preemptions(run)[1]!.after).toEqual({ cycle: 1, link: "again" });
    const tree = cascadeOf(run, 2)!;
    expect(tree.loss).toEqual({ cause: "nodeDeleted", node: 0, cycle: 1, by: -1, instead: 1 });
    expect(tree.then.map((next) => next.loss)).toEqual([null]);
  });

  test("shows a nomination that is lost for good", () => {
    const placed = [
      ["CycleStarted", 2, LATE, 1, 0, Queue.ACTIVE, 0, 2],
      ["Assumed", LATE, 0],
      ["CycleFinished", 2, Result.SCHEDULED, 0, "", [], []],
      ["CycleStarted", 3, HIGH, 2, 0, Queue.ACTIVE, 0, 2],
      ["Assumed", HIGH, 1],
      ["NominationChanged", HIGH, -1],
      ["CycleFinished", 3, Result.SCHEDULED, 1, "", [], []],
    ];
    expect(cascadeOf(fold(cycle(1, HIGH, MIDDLE), placed), 1)!.loss).toEqual({
      cause: "taken",
      node: 0,
      cycle: 2,
      by: LATE,
      instead: 1,
    });
    const failed = placed
      .map((row) =>
        row[0] === "CycleFinished" && row[1] === 3 ? [row[0], 3, Result.UNSCHEDULABLE, -1, "", [], []] : row,
      )
      .filter((row) => row[0] !== "Assumed" || row[1] !== HIGH);
    expect(cascadeOf(fold(cycle(1, HIGH, MIDDLE), failed), 1)!.loss).toMatchObject({
      cause: "taken",
      by: LATE,
      instead: -1,
    });
    const deleted = fold(cycle(1, HIGH, MIDDLE), [["PodDeleted", HIGH]]);
    expect(cascadeOf(deleted, 1)!.loss).toMatchObject({ cause: "podDeleted", node: 0, instead: -1 });
  });

  test("has no loss where the pod comes to its node, or still waits for it", () => {
    const placed = [
      ["CycleStarted", 2, HIGH, 2, 0, Queue.ACTIVE, 0, 2],
      ["NominationChanged", HIGH, -1],
      ["Assumed", HIGH, 0],
      ["CycleFinished", 2, Result.SCHEDULED, 0, "", [], []],
    ];
    expect(cascadeOf(fold(cycle(1, HIGH, MIDDLE), placed), 1)).toBeNull();
    expect(cascadeOf(fold(cycle(1, HIGH, MIDDLE)), 1)).toBeNull();
  });

  test("is none where a preemption stands alone", () => {
    const run = fold(cycle(1, HIGH, LOW), cycle(2, LATE, MIDDLE));
    expect(cascadeOf(run, 1)).toBeNull();
    expect(cascadeOf(run, 7)).toBeNull();
  });
});
