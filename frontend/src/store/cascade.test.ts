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

  test("is none where a preemption stands alone", () => {
    const run = fold(cycle(1, HIGH, LOW), cycle(2, LATE, MIDDLE));
    expect(cascadeOf(run, 1)).toBeNull();
    expect(cascadeOf(run, 7)).toBeNull();
  });
});
