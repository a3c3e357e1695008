// Two runs on one timeline, and what is different at each place of it.

import { encode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";

import { Queue, Result } from "../../wire/events.ts";
import { Pair } from "./pair.svelte.ts";
import { Placement, type PlacementDocument } from "./placed.ts";
import { inOneOrder } from "./positions.ts";
import { PlacementSide, RunSide, type SideName } from "./side.ts";
import { ABSENT, Change, PENDING } from "./standing.ts";

const NODES = ["n1", "n2"];

/** A run that binds each pod to the node given for it, or to none, in the order given. */
function run(side: SideName, ...placed: [pod: string, node: string][]): RunSide {
  const names = placed.map(([pod]) => pod);
  const events = [
    ["RunStarted", "test", 0, 0n, [], [], []],
    ["ResourcesDefined", ["cpu", "memory"]],
    ...NODES.map((node, i) => ["NodeAdded", i, node, "", {}, [], false, [4000, 0]]),
    ...names.map((pod, i) => [
      "PodAdded",
      i,
      "shop",
      pod,
      "default-scheduler",
      0,
      [1000, 0],
      "",
      -1,
      -1,
      "Pending",
      false,
    ]),
    ...placed.flatMap(([, node], i) => cycle(i + 1, i, NODES.indexOf(node))),
  ];
  const made = new RunSide(side, side, "");
  made.receive(encode([0, events], { useBigInt64: true }));
  return made;
}

function cycle(number: number, pod: number, node: number): unknown[][] {
  const result = node < 0 ? Result.UNSCHEDULABLE : Result.SCHEDULED;
  return [
    ["CycleStarted", number, pod, 1, 0, Queue.ACTIVE, 0, 2],
    ...(node < 0 ? [] : [["Assumed", pod, node]]),
    ["CycleFinished", number, result, node, "", [], []],
  ];
}

const pairOf = (a: RunSide, b: RunSide, parting: { a: number; b: number } | null = null): Pair =>
  new Pair({ a, b }, parting);

const told = ({ places }: Pair): string[] =>
  places.map(
    ({ tried, a, b, other, differs }) => `${tried} ${a} ${b}${other ? ` ~${other}` : ""}${differs ? " !" : ""}`,
  );

describe("one timeline", () => {
  test("runs that are the same have one place for both at each attempt", () => {
    const placed: [string, string][] = [
      ["web", "n1"],
      ["db", "n2"],
    ];
    const pair = pairOf(run("a", ...placed), run("b", ...placed));
    expect(told(pair)).toEqual(["none 0 0", "both 1 1", "both 2 2", "end 2 2"]);
    expect(pair.differing).toEqual([]);
    expect(pair.at).toBe(3);
  });

  test("attempts in another order keep the longest common sequence together", () => {
    const a = run("a", ["web", "n1"], ["db", "n1"], ["job", "n2"]);
    const b = run("b", ["db", "n1"], ["job", "n2"], ["web", "n1"], ["new", ""]);
    expect(told(pairOf(a, b))).toEqual([
      "none 0 0",
      "a 1 0 ~3 !",
      "both 2 1",
      "both 3 2",
      "b 3 3 ~1 !",
      "b 3 4 !",
      "end 3 4",
    ]);
  });

  test("it opens where the runs part, and steps from difference to difference", () => {
    const a = run("a", ["web", "n1"], ["db", "n1"], ["job", "n2"]);
    const b = run("b", ["web", "n1"], ["db", "n2"], ["job", ""]);
    const pair = pairOf(a, b, { a: 2, b: 2 });
    expect([pair.at, pair.difference(1), pair.difference(-1)]).toEqual([2, 3, -1]);
    expect(pair.placeOfCycle("b", 3)).toBe(3);
    expect(pair.shared.pods.all[pair.pod]).toBe("shop/db");
    pair.goTo(99);
    expect([pair.at, pair.pod]).toEqual([4, -1]);
  });

  test("runs without a cycle have a beginning and an end", () => {
    expect(told(pairOf(run("a"), run("b")))).toEqual(["none 0 0", "end 0 0"]);
  });
});

describe("what differs", () => {
  test("nodes have more pods, or fewer, as seen from each side", () => {
    const pair = pairOf(run("a", ["web", "n1"], ["db", "n1"]), run("b", ["web", "n2"], ["db", "n1"]), { a: 1, b: 1 });
    expect(pair.differences.pods).toEqual([{ pod: 0, a: 0, b: 1 }]);
    expect([...pair.differences.a]).toEqual([Change.MORE, Change.LESS]);
    expect([...pair.differences.b]).toEqual([Change.LESS, Change.MORE]);
    expect(pair.podsOn("b", 1)).toEqual([0]);
    pair.goTo(0);
    expect(pair.differences.pods).toEqual([]);
  });

  test("a pod that one run has not is nowhere, one that waits is pending, and neither is a difference of nodes", () => {
    const { standings, differences } = pairOf(run("a", ["web", "n1"], ["old", ""]), run("b", ["web", ""]));
    expect([...standings.b.at]).toEqual([PENDING, ABSENT]);
    expect(differences.pods).toEqual([{ pod: 0, a: 0, b: PENDING }]);
    expect(differences.nNodes).toBe(1);
  });
});

describe("placements that are no cycles", () => {
  const document = (node: string): PlacementDocument => ({
    title: node,
    nodes: [
      { name: "n1", zone: "b", allocatable: { cpu: 4000 } },
      { name: "n2", zone: "a" },
    ],
    pods: [{ pod: "shop/web", node, requests: { cpu: 500 } }],
  });

  test("are compared in the same way, in one moment", () => {
    const pair = new Pair({ a: new PlacementSide(document("n1")), b: new PlacementSide(document("")) }, null);
    expect(pair.hasTime).toBe(false);
    expect(pair.groups.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(pair.differences.pods).toEqual([{ pod: 0, a: 0, b: PENDING }]);
    expect(pair.standings.a.placed.requested(0, 0)).toBe(500);
  });

  test("name a pod on a node that is not there", () => {
    expect(() => new Placement(document("n9"))).toThrow("shop/web: there is no node n9");
  });
});

test("as many places as possible in one order", () => {
  expect(inOneOrder([0, 2, 0, 3, 1, 4])).toEqual([1, 3, 5]);
  expect(inOneOrder([])).toEqual([]);
});
