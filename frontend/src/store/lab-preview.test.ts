// What changes do to pods and nodes, seen beside the same events in a trace of their own.

import { encode } from "@msgpack/msgpack";
import { expect, test } from "vitest";

import { snapshot } from "../testing/snapshot.ts";
import { readHeaderEvent } from "../wire/events.ts";
import { Memory } from "./cells.ts";
import { cycleRecord } from "./cycle.ts";
import { Fold } from "./fold.ts";
import { previewed } from "./lab-preview.ts";
import { State } from "./state.ts";

const OK = ["Success", -1, []];
const node = (number: number, name: string): unknown[] => ["NodeAdded", number, name, "", {}, [], false, [4000, 1]];
const pod = (number: number, name: string, on: number, phase = "Running"): unknown[] => [
  ...["PodAdded", number, "clinic", name, "default", 0, [500, 1], "Job/j", on, -1, phase, false],
];
const BEFORE = [
  ["RunStarted", "0", 0, 1_000n, ["Fit"], [["default", [["Filter", [0], []]]]], []],
  ["ResourcesDefined", ["cpu", "gpu"]],
  node(0, "train-1"),
  node(1, "gpu-1"),
  ["NodeOrderChanged", [0, 1]],
  pod(0, "train-0", 1),
  pod(1, "train-1", 0),
  pod(2, "done", 1, "Succeeded"),
  pod(3, "next", -1, "Pending"),
];
const CYCLE = [
  ["CycleStarted", 1, 3, 1, 0, 1, 0, 2],
  ["PreFilterFinished", OK, [], null],
  ["FilterFinished", 2, 0, 2, [[0, 2]], false],
  ["CycleFinished", 1, 1, -1, "no", [0], []],
];

function fold(events: readonly unknown[][]): Fold {
  const made = new Fold();
  made.append(encode([0, events], { useBigInt64: true }));
  return made;
}

function tried(world: readonly unknown[][]): State {
  const run = fold([...BEFORE, ...CYCLE, pod(4, "later", 0)]);
  const events = (rows: readonly unknown[][]) => rows.map((row) => readHeaderEvent(row)!);
  const preview = {
    ...{ cycle: 1, world: events(world), events: events(CYCLE) },
    ...{ details: [], gated: null, withoutEffect: [], limits: [], verdict: "" },
  };
  return previewed(run, new Memory(run.journal), cycleRecord(run, 1), preview)!.state!;
}

const WORLDS: Record<string, unknown[][]> = {
  "a pod that is deleted": [["PodDeleted", 0]],
  "one that takes nothing is deleted": [["PodDeleted", 2]],
  "a pod that moves": [["PodDeleted", 1], pod(4, "again", 1)],
  "a pod that comes back under its number": [["PodDeleted", 1], pod(1, "train-1", -1, "Pending")],
  "a pod that is resized": [["PodUpdated", 0, 5, [700, 0], "Running", false]],
  "a pod that ends": [["PodUpdated", 0, 0, [500, 1], "Failed", false]],
  "a pod that is bound": [["Bound", 3, 0]],
  "pods on a new node": [node(2, "gpu-2"), ["NodeOrderChanged", [0, 1, 2]], pod(4, "a", 2), pod(5, "b", 2)],
};

test.each(Object.keys(WORLDS))("%s is seen as in a trace", (name) => {
  const world = WORLDS[name]!;
  const events = [...BEFORE, ...world];
  const state = new State(fold(events));
  state.seek(events.length);
  const seen = tried(world);
  const of = (each: State) => {
    const { nodes, usage, pods } = snapshot(each) as Record<string, Record<string, { node: number; phase: string }>>;
    return { nodes, usage, pods: Object.entries(pods!).map(([at, { node, phase }]) => [at, node, phase]) };
  };
  expect(of(seen)).toEqual(of(state));
  expect(seen.nPodsOn(1)).toBe(state.nPodsOn(1));
  expect(seen.podsWhere((each) => seen.nodeOf(each) === 1)).toEqual(
    state.podsWhere((each) => state.nodeOf(each) === 1),
  );
  expect(seen.podFacts(4)?.key).toBe(state.podFacts(4)?.key);
});

test("the card of a node counts whom a change takes away", () => {
  expect(tried([]).requested(1, 1)).toBe(1);
  expect(tried([["PodDeleted", 0]]).requested(1, 1)).toBe(0);
});
