// Both folds, Python's and this one, arrive at the states of one fixture.

import { readFileSync } from "node:fs";

import { encode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";

import { snapshot } from "../testing/snapshot.ts";
import { CHANGES } from "../wire/events.ts";
import { Fold } from "./fold.ts";
import { State } from "./state.ts";

// Nanoseconds since the epoch exceed a double; as in Python's JSON they are compared as doubles.
const text = readFileSync(new URL("../../../tests/trace/fold_fixture.json", import.meta.url), "utf8");
const fixture = JSON.parse(text) as {
  events: unknown[][];
  states: { after: number; state: unknown }[];
};
const TIME_FIELDS: Record<string, number[]> = {
  RunStarted: [3],
  ClockAdvanced: [1],
  PodEvicted: [4],
  QueueMoved: [8],
  PermitWaiting: [3],
};

function chunk(first: number, events: unknown[][]): Uint8Array {
  const exact = events.map((event) =>
    event.map((value, i) => (TIME_FIELDS[event[0] as string]?.includes(i) ? BigInt(value as number) : value)),
  );
  return encode([first, exact], { useBigInt64: true });
}

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, v: unknown) => (typeof v === "bigint" ? Number(v) : v)));

function whole(): State {
  const fold = new Fold();
  fold.append(chunk(0, fixture.events));
  return new State(fold);
}

describe("the fold", () => {
  test.each(fixture.states)("equals Python's after $after events", ({ after, state: expected }) => {
    const state = whole();
    state.seek(after);
    expect(plain(snapshot(state))).toEqual(expected);
  });

  test("changes with every event what the table says, and nothing else", () => {
    const state = whole();
    const { trace } = state.fold;
    const at = (moment: number): Record<string, unknown> => {
      state.seek(moment);
      return plain(snapshot(state)) as Record<string, unknown>;
    };
    let before = at(0);
    for (let seq = 0; seq < trace.length; seq++) {
      const { kind } = trace.event(seq)!;
      const now = at(seq + 1);
      const changed = Object.keys(now).filter((part) => JSON.stringify(now[part]) !== JSON.stringify(before[part]));
      // Every event within a cycle is one of its steps.
      const expected = new Set<string>(kind.startsWith("Cycle") ? CHANGES[kind] : [...CHANGES[kind], "cycle"]);
      expect(
        changed.filter((part) => !expected.has(part)),
        kind,
      ).toEqual([]);
      before = now;
    }
  });

  test("gives the same states on the way back", () => {
    const state = whole();
    state.seek(fixture.events.length);
    for (const { after, state: expected } of [...fixture.states].reverse()) {
      state.seek(after);
      expect(plain(snapshot(state))).toEqual(expected);
    }
    state.seek(0);
    expect(state.podsWhere(() => true)).toEqual([]);
  });

  test.each([1, 3, 10])("does not depend on where chunks of %i are cut", (size) => {
    const fold = new Fold();
    const state = new State(fold);
    for (let first = 0; first < fixture.events.length; first += size) {
      fold.append(chunk(first, fixture.events.slice(first, first + size)));
      state.seek(fold.trace.length);
    }
    expect(plain(snapshot(state))).toEqual(fixture.states.at(-1)!.state);
  });

  test("passes over events it already has, and refuses a gap", () => {
    const fold = new Fold();
    fold.append(chunk(0, fixture.events.slice(0, 20)));
    expect(fold.append(chunk(10, fixture.events.slice(10, 30)))).toBe(10);
    expect(fold.append(chunk(0, fixture.events.slice(0, 20)))).toBe(0);
    expect(() => fold.append(chunk(31, fixture.events.slice(31)))).toThrow("lacks events 30 to 30");
    fold.append(chunk(30, fixture.events.slice(30)));
    const state = new State(fold);
    state.seek(fold.trace.length);
    expect(plain(snapshot(state))).toEqual(fixture.states.at(-1)!.state);
  });

  test("passes over events of a kind it does not know", () => {
    const fold = new Fold();
    fold.append(chunk(0, [...fixture.events.slice(0, 5), ["Invented", 1, 2]]));
    expect(fold.trace.length).toBe(6);
    expect(fold.trace.event(5)).toBeNull();
  });
});

describe("the chronicle", () => {
  test("knows the cycles, their pods and results", () => {
    const { chronicle } = whole().fold;
    expect(chronicle.nCycles).toBe(5);
    expect([1, 2, 3, 4, 5].map((cycle) => chronicle.result.at(cycle))).toEqual([1, 0, 3, 4, 0]);
    expect(chronicle.preempted.at(1)).toBe(1);
    expect(chronicle.pod.at(2)).toBe(1);
  });

  test("ends a cycle before the clock moves on", () => {
    const { chronicle, trace } = whole().fold;
    const end = chronicle.endMoment.at(1);
    expect(trace.event(end)?.kind).toBe("ClockAdvanced");
    expect(trace.event(end - 1)?.kind).toBe("QueueMoved");
  });

  test("lists a pod's events from the newest back", () => {
    const { chronicle, trace } = whole().fold;
    const kinds = [...chronicle.eventsOfPod(1)].map((seq) => trace.event(seq)!.kind);
    expect(kinds.at(-1)).toBe("PodAdded");
    expect(kinds[0]).toBe("PointFinished");
    expect([...chronicle.eventsOfPod(1, 15)].length).toBeLessThan(kinds.length);
    expect([...chronicle.eventsOfPod(999)]).toEqual([]);
  });

  test("counts a scenario step to the cycle after it", () => {
    const { chronicle } = whole().fold;
    const flag = chronicle.flags.find((f) => f.kind === "scenario");
    expect(flag).toMatchObject({ cycle: 5, text: "add node worker-late" });
  });
});
