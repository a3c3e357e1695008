// The store as the views use it, over a made-up run: stepping, selection, addresses, details.

import { decode, encode } from "@msgpack/msgpack";
import { beforeEach, describe, expect, test, vi } from "vitest";

import { SyntheticRun } from "../testing/synthetic.ts";
import { Queue } from "../wire/events.ts";
import { Explorer } from "./explorer.ts";
import { Grouping } from "./grouping.ts";
import { lanes } from "./lanes.ts";
import { readAddress, writeAddress } from "./link.ts";
import { narrate } from "./narrate.ts";
import { measureAt, nodeMatcher, verdictsAt } from "./nodes.ts";
import { Verdict } from "./verdicts.ts";
import { latestMoves } from "./moves.ts";
import { shortBy } from "./shortages.ts";

const run = new SyntheticRun({ nodes: 12, pods: 400, chunk: 200, seed: 3 });
/** Moves further apart than this are no haste. */
const SETTLED_MS = 80;
/** Wait for the detail of the cycle shown; hurried requests take a moment longer. */
const arrived = (explorer: Explorer): Promise<unknown> =>
  vi.waitFor(() => expect(["ready", "failed"]).toContain(explorer.details.shown.kind));

function open(search = "", over = true): { explorer: Explorer; fetched: number[] } {
  const fetched: number[] = [];
  const explorer = new Explorer("run", (cycle) => {
    fetched.push(cycle);
    return Promise.resolve(run.detail(cycle));
  });
  explorer.begin(readAddress(search), over);
  for (const chunk of run.chunks()) explorer.receive(chunk);
  return { explorer, fetched };
}

describe("moving", () => {
  let explorer: Explorer;
  beforeEach(() => ({ explorer } = open()));

  test("a finished run opens at its first cycle, a running one at its latest", () => {
    expect(explorer.navigation.position.cycle).toBe(1);
    const inOne = new Explorer("run", () => new Promise(() => undefined));
    inOne.begin(readAddress(""), true);
    const [only] = new SyntheticRun({ nodes: 3, pods: 5, chunk: 1e6 }).chunks();
    inOne.receive(only!);
    expect(inOne.navigation.position.cycle).toBe(1);
    inOne.begin(readAddress("?c=0"), true);
    expect(inOne.navigation.position.cycle).toBe(0);
    const live = open("", false).explorer;
    expect(live.navigation.following).toBe(true);
    expect(live.navigation.position.cycle).toBe(live.navigation.nCycles);
  });

  test("steps by cycle, both ways, and stops at the ends", () => {
    explorer.navigation.step(1);
    expect(explorer.navigation.position).toEqual({ cycle: 2, point: null, plugin: null });
    explorer.navigation.step(-1);
    explorer.navigation.step(-1);
    expect(explorer.navigation.position.cycle).toBe(0);
    expect(explorer.navigation.step(-1)).toBe(false);
    explorer.navigation.goToCycle(1e9);
    expect(explorer.navigation.position.cycle).toBe(explorer.navigation.nCycles);
    expect(explorer.navigation.step(1)).toBe(false);
  });

  test("steps through every point of a cycle and on into the next", () => {
    explorer.navigation.setGranularity("point");
    const seen = [explorer.navigation.position.point];
    while (explorer.navigation.position.cycle === 1) {
      explorer.navigation.step(1);
      seen.push(explorer.navigation.position.point);
    }
    expect(seen).toEqual([
      "QueueSort",
      "PreFilter",
      "Filter",
      "PreScore",
      "Score",
      "Reserve",
      "PreBind",
      "Bind",
      "QueueSort",
    ]);
    explorer.navigation.step(-1);
    expect(explorer.navigation.position).toMatchObject({ cycle: 1, point: "Bind" });
  });

  test("forward and back by plugin visit the same places", () => {
    explorer.navigation.setGranularity("plugin");
    const there = [explorer.navigation.position];
    for (let i = 0; i < 80; i++) {
      explorer.navigation.step(1);
      there.push(explorer.navigation.position);
    }
    expect(new Set(there.map((p) => JSON.stringify(p))).size).toBe(81);
    for (const place of [...there].reverse().slice(1)) {
      explorer.navigation.step(-1);
      expect(explorer.navigation.position).toEqual(place);
    }
  });

  test("coarser and finer keep the place", () => {
    explorer.navigation.go({ cycle: 3, point: "Filter", plugin: explorer.pluginNumber("TaintToleration") });
    expect(explorer.navigation.by).toBe("plugin");
    explorer.navigation.setGranularity("point");
    expect(explorer.navigation.position).toEqual({ cycle: 3, point: "Filter", plugin: null });
    explorer.navigation.setGranularity("cycle");
    expect(explorer.navigation.position).toEqual({ cycle: 3, point: null, plugin: null });
  });

  test("the state at a point is that of the point", () => {
    const pod = explorer.navigation.record!.started.pod;
    explorer.navigation.go({ cycle: 1, point: "Filter", plugin: null });
    expect(explorer.state.queueOf(pod)).toBe(Queue.IN_FLIGHT);
    expect(explorer.state.nodeOf(pod)).toBe(-1);
    explorer.navigation.go({ cycle: 1, point: "Reserve", plugin: null });
    expect(explorer.state.nodeOf(pod)).toBe(explorer.navigation.record!.selected!.node);
  });

  test("finds failures in both directions, and says when there is none", () => {
    expect(explorer.navigation.toFailure(1)).toBe(true);
    const first = explorer.navigation.position.cycle;
    expect(explorer.navigation.record!.filter!.n_feasible).toBe(0);
    expect(explorer.navigation.toFailure(-1)).toBe(false);
    explorer.navigation.toFailure(1);
    expect(explorer.navigation.position.cycle).toBeGreaterThan(first);
    explorer.navigation.toFailure(-1);
    expect(explorer.navigation.position.cycle).toBe(first);
  });

  test("follows a pod from event to event", () => {
    while (explorer.navigation.toFailure(1) && explorer.selection.pod % 3 !== 0); // every third is woken again
    const { pod } = explorer.selection;
    const cycles = [explorer.navigation.position.cycle];
    while (explorer.toEventOfPod(1)) cycles.push(explorer.navigation.position.cycle);
    expect(cycles.length).toBeGreaterThan(1);
    expect(cycles).toEqual([...new Set(cycles)].sort((a, b) => a - b));
    expect(explorer.selection.pod).toBe(pod);
    expect(explorer.selection.podIsPinned).toBe(true);
  });
});

describe("addresses", () => {
  test("lead back to the same view, whenever the data come", async () => {
    const { explorer } = open();
    explorer.navigation.go({ cycle: 7, point: "Filter", plugin: explorer.pluginNumber("NodeResourcesFit") });
    explorer.selection.select({ pod: 5, node: 3, tab: "filter" });
    explorer.display.setMap({ group: "pool", colour: "cpu" });
    const search = writeAddress(explorer.address, "?share=abc");
    expect(search).toContain("share=abc");
    expect(search).toContain("c=7&p=Filter&g=NodeResourcesFit");
    const again = open(search).explorer;
    await arrived(again);
    const look = ({ navigation, selection, display }: Explorer) => {
      const { pod, node, tab } = selection;
      return [navigation.position, navigation.by, pod, node, tab, display.map];
    };
    expect(look(again)).toEqual(look(explorer));
  });

  test("with nonsense in them open the run all the same", () => {
    const { explorer } = open("?c=99999999&p=Nowhere&g=Nobody&pod=a/b&n=none&tab=magic");
    explorer.hear({ link: "ended" });
    expect(explorer.navigation.position.cycle).toBe(explorer.navigation.nCycles);
    expect(explorer.selection.tab).toBe("why");
    expect(readAddress("?c=-1").cycle).toBeNull();
  });

  test("naming a late cycle show no other on the way", () => {
    const explorer = new Explorer("run", (cycle) => Promise.resolve(run.detail(cycle)));
    explorer.begin(readAddress("?c=390&tab=filter"), true);
    const shown = new Set<number>();
    for (const chunk of run.chunks()) {
      explorer.receive(chunk);
      shown.add(explorer.navigation.position.cycle);
      if (explorer.nCycles < 390) expect(narrate(explorer).key).toBe("story.awaited");
    }
    expect([...shown]).toEqual([0, 390]);
    expect(explorer.awaited).toBe(0);
  });

  test("naming a cycle that the run has not reached show its latest", () => {
    const explorer = new Explorer("run", (cycle) => Promise.resolve(run.detail(cycle)));
    explorer.begin(readAddress("?c=9999"), false);
    const [first] = run.chunks();
    explorer.receive(first!);
    expect(explorer.awaited).toBe(9999);
    explorer.hear({ status: { type: "status", status: "running", cycles: 50, bound: 0, pending: 0, last_seq: 9 } });
    expect(explorer.awaited).toBe(0);
    expect(explorer.navigation.position.cycle).toBe(explorer.nCycles);
  });

  test("naming what never comes do not hold on to the view", () => {
    const explorer = new Explorer("run", (cycle) => Promise.resolve(run.detail(cycle)));
    explorer.begin(readAddress("?c=5&n=none"), true);
    const chunks = [...run.chunks()];
    for (const chunk of chunks.slice(0, -1)) explorer.receive(chunk);
    expect(explorer.navigation.position.cycle).toBe(5);
    explorer.navigation.step(1);
    explorer.receive(chunks.at(-1)!);
    expect(explorer.navigation.position.cycle).toBe(6);
  });

  test("are told of what changes, not of what is only played", () => {
    const { explorer } = open();
    const told = vi.fn();
    explorer.onNavigate = told;
    explorer.navigation.goToCycle(4);
    explorer.navigation.step(1);
    explorer.navigation.scrub(7, "push");
    explorer.navigation.scrub(8, "replace");
    explorer.navigation.playing = true;
    expect(told.mock.calls).toEqual([["push"], ["step"], ["push"], ["replace"]]);
  });

  test("are written once the first cycle is here, to come back to", () => {
    const explorer = new Explorer("run", (cycle) => Promise.resolve(run.detail(cycle)));
    const told = vi.fn();
    explorer.onNavigate = told;
    explorer.begin(readAddress(""), true);
    for (const chunk of run.chunks()) explorer.receive(chunk);
    expect(told.mock.calls).toEqual([["replace"]]);
    explorer.navigation.goToCycle(9);
    explorer.reopen(readAddress("?c=1"));
    expect(explorer.navigation.position.cycle).toBe(1);
  });

  test("without a cycle are those of somebody who followed the run", () => {
    const { explorer } = open("", false);
    explorer.hear({ status: { type: "status", status: "running", cycles: 400, bound: 0, pending: 0, last_seq: 9 } });
    explorer.navigation.goToCycle(3);
    explorer.reopen(readAddress(""));
    expect(explorer.navigation.following).toBe(true);
    expect(explorer.navigation.position.cycle).toBe(explorer.nCycles);
  });
});

describe("details", () => {
  test("a cycle of which a part is known gives way to the whole one, and its detail is fetched again", async () => {
    const [chunk] = new SyntheticRun({ nodes: 3, pods: 5, chunk: 1e6 }).chunks();
    const [first, events] = decode(chunk!, { useBigInt64: true }) as [number, unknown[][]];
    const second = events.findIndex(([kind, cycle]) => kind === "CycleStarted" && Number(cycle) === 2);
    const end = events.findIndex(([kind], i) => i > second && kind === "FilterFinished") + 1;
    const fetched: number[] = [];
    const explorer = new Explorer("run", (cycle) => {
      fetched.push(cycle);
      return Promise.resolve(run.detail(cycle));
    });
    explorer.begin(readAddress("?c=2"), false);
    explorer.receive(encode([first, events.slice(0, end)], { useBigInt64: true }));
    await arrived(explorer);
    expect(explorer.navigation.record?.finished).toBeNull();
    const outcomeOf = (point: string): string | undefined =>
      explorer.navigation.record?.points.find((step) => step.point === point)?.outcome;
    expect([outcomeOf("Score"), outcomeOf("Bind")]).toEqual(["unknown", "unknown"]);
    explorer.receive(chunk!);
    await arrived(explorer);
    expect(explorer.navigation.position.cycle).toBe(2);
    expect(explorer.navigation.record?.finished).not.toBeNull();
    expect(fetched.filter((cycle) => cycle === 2)).toHaveLength(2);
  });

  test("are fetched for the cycle shown, and ahead in the direction of steps", async () => {
    vi.useFakeTimers();
    const { explorer, fetched } = open();
    await vi.advanceTimersByTimeAsync(SETTLED_MS);
    explorer.navigation.goToCycle(20);
    await vi.advanceTimersByTimeAsync(SETTLED_MS);
    explorer.navigation.step(1);
    await vi.advanceTimersByTimeAsync(SETTLED_MS);
    vi.useRealTimers();
    expect(fetched.slice(-3)).toEqual([21, 22, 23]);
  });

  test("of cycles scrubbed past are not fetched", async () => {
    const { explorer, fetched } = open();
    await arrived(explorer);
    for (let cycle = 50; cycle < 100; cycle++) explorer.navigation.scrub(cycle);
    await arrived(explorer);
    expect(explorer.details.shown.kind).toBe("ready");
    const far = fetched.filter((cycle) => cycle >= 50);
    expect(far.at(-1)).toBe(99);
    expect(far.length).toBeLessThanOrEqual(2); // the first is not yet known to be one of many
  });

  test("a pointer that stays on its cycle changes nothing", () => {
    const { explorer } = open();
    explorer.navigation.scrub(50);
    const { position } = explorer.navigation;
    explorer.navigation.scrub(50);
    expect(explorer.navigation.position).toBe(position);
  });

  test("that fail can be tried again", async () => {
    let broken = true;
    const explorer = new Explorer("run", (cycle) =>
      broken ? Promise.reject(new Error("503 Unavailable")) : Promise.resolve(run.detail(cycle)),
    );
    explorer.begin(readAddress("?c=2"), true);
    for (const chunk of run.chunks()) explorer.receive(chunk);
    await arrived(explorer);
    expect(explorer.details.shown).toEqual({ kind: "failed", message: "503 Unavailable" });
    broken = false;
    explorer.details.retry();
    await arrived(explorer);
    expect(explorer.details.shown.kind).toBe("ready");
  });
});

describe("verdicts", () => {
  test("agree with the counts of the header", async () => {
    const { explorer } = open();
    for (const cycle of [1, 40, 200, explorer.navigation.nCycles]) {
      explorer.navigation.goToCycle(cycle);
      await arrived(explorer);
      const { filter, selected } = explorer.navigation.record!;
      const verdicts = [...verdictsAt(explorer)];
      const count = (v: number): number => verdicts.filter((x) => x === v).length;
      expect(count(Verdict.FEASIBLE) + count(Verdict.CHOSEN)).toBe(filter!.n_feasible);
      expect(count(Verdict.REJECTED)).toBe(filter!.n_examined - filter!.n_feasible);
      expect(count(Verdict.CHOSEN)).toBe(selected ? 1 : 0);
    }
  });

  test("of one plugin tell rejected from never asked", async () => {
    const { explorer } = open();
    const { record } = explorer.navigation;
    const filter = record!.points.find((p) => p.point === "Filter")!;
    for (const { plugin, rejected, outcome } of filter.plugins) {
      explorer.navigation.go({ cycle: 1, point: "Filter", plugin });
      await arrived(explorer);
      const verdicts = [...verdictsAt(explorer)];
      expect(verdicts.filter((v) => v === Verdict.REJECTED).length).toBe(rejected);
      expect(verdicts.includes(Verdict.SKIPPED)).toBe(outcome === "skipped");
    }
    explorer.navigation.go({ cycle: 1, point: "Filter", plugin: explorer.pluginNumber("NodeResourcesFit") });
    expect([...verdictsAt(explorer)]).toContain(Verdict.UNEVALUATED);
  });

  test("before the pick do not give it away", async () => {
    const { explorer } = open();
    explorer.navigation.go({ cycle: 1, point: "Filter", plugin: null });
    await arrived(explorer);
    expect([...verdictsAt(explorer)]).not.toContain(Verdict.CHOSEN);
  });

  test("colour follows the scores while one looks at scoring", async () => {
    const { explorer } = open();
    await arrived(explorer);
    expect(measureAt(explorer).kind).toBe("verdict");
    explorer.navigation.go({ cycle: 1, point: "Score", plugin: null });
    await arrived(explorer);
    const { kind, high } = measureAt(explorer);
    expect(kind).toBe("score");
    expect(high).toBe(explorer.navigation.record!.selected!.total);
  });

  test("scores can be set on the scale of all that is possible", async () => {
    const { explorer } = open();
    await arrived(explorer);
    explorer.display.setMap({ colour: "score-full" });
    const { scores } = explorer.details.ready!;
    const possible = scores!.plugins.reduce((sum, { weight }) => sum + 100 * weight, 0);
    expect(measureAt(explorer)).toMatchObject({ low: 0, high: possible });
    const { plugin } = scores!.plugins[0]!;
    explorer.navigation.go({ cycle: 1, point: "Score", plugin });
    await arrived(explorer);
    expect(measureAt(explorer)).toMatchObject({ low: 0, high: 100 });
  });

  test("a cycle without scores has no scale", () => {
    const { explorer } = open("?col=score&c=0");
    expect(measureAt(explorer)).toEqual({ kind: "score", values: null, low: 0, high: 0 });
  });
});

describe("what is told", () => {
  test("lanes hold every waiting pod once, in order of priority", () => {
    const { explorer } = open();
    explorer.navigation.goToCycle(100);
    const all = lanes(explorer.state);
    for (const { queue, count, pods } of all) {
      expect(explorer.state.count(queue)).toBe(count);
      expect(pods.length).toBe(count);
    }
    const active = all
      .find((lane) => lane.queue === Queue.ACTIVE)!
      .pods.map((pod) => explorer.state.podFacts(pod)!.priority);
    expect(active).toEqual([...active].sort((a, b) => b - a));
  });

  test("a funnel ends at the feasible nodes, and misses come nearest first", async () => {
    const { explorer } = open();
    explorer.navigation.toFailure(1);
    await arrived(explorer);
    const { record } = explorer.navigation;
    const detail = explorer.details.ready!;
    const { funnel, causes, nearest } = explorer.why(record!, detail);
    expect(funnel.at(-1)!.left).toBe(0);
    expect(funnel.flatMap((step) => step.nodes).sort((a, b) => a - b)).toEqual(
      [...detail.examined].sort((a, b) => a - b),
    );
    expect(causes.length).toBeGreaterThan(0);
    expect(nearest.length).toBe(10);
    expect(explorer.pluginName(nearest[0]!.plugin)).toBe("NodeResourcesFit");
    const missing = nearest.map(({ plugins, code, shortages }) => ({
      against: plugins.length,
      code,
      part: shortages.reduce((sum, each) => sum + shortBy(each) / each.requested, 0),
    }));
    expect(new Set(missing.map(({ against, code }) => `${against} ${code}`)).size).toBe(1);
    expect(missing.map(({ part }) => part)).toEqual(missing.map(({ part }) => part).sort((a, b) => a - b));
    expect(missing[0]!.part).toBeGreaterThan(0);
  });

  test("a pod's moves lead to where they are seen", () => {
    const { explorer } = open();
    explorer.navigation.toFailure(1);
    const [move] = latestMoves(explorer, explorer.selection.pod, 5);
    expect(move!.move.event).toBe("ScheduleAttemptFailure");
    expect(move!.cycle).toBe(explorer.navigation.position.cycle);
  });

  test("a link to a point that the cycle did not come to tells of the cycle", () => {
    const { explorer } = open();
    explorer.navigation.toFailure(1);
    const whole = narrate(explorer);
    explorer.navigation.go({ ...explorer.navigation.position, point: "Score" });
    expect(narrate(explorer)).toEqual(whole);
  });

  test("a link to PostFilter of a cycle that found a node tells of the cycle, not of evictions", () => {
    const { explorer } = open("?c=1");
    const whole = narrate(explorer);
    expect(explorer.navigation.record!.selected).not.toBeNull();
    explorer.navigation.go({ ...explorer.navigation.position, point: "PostFilter" });
    expect(narrate(explorer)).toEqual(whole);
  });

  test("every stop of a run has a sentence", () => {
    const { explorer } = open();
    explorer.navigation.setGranularity("plugin");
    for (let i = 0; i < 200 && explorer.navigation.step(1); i++) {
      const { key, params } = narrate(explorer);
      expect(key).toMatch(/^story\./);
      expect(Object.values(params)).not.toContain(undefined);
    }
  });
});

describe("nodes", () => {
  test("groups keep every node, in a stable order", () => {
    const { explorer } = open();
    const grouping = new Grouping(explorer);
    for (const by of ["zone", "pool", "taint", "none", "label:kubernetes.io/arch"]) {
      const nodes = grouping.by(by).flatMap((group) => group.nodes);
      expect([...nodes].sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i));
    }
    expect(grouping.by("none")).toHaveLength(1);
    expect(grouping.labels()).toContain("pool");
    expect(grouping.labels()).not.toContain("kubernetes.io/missing");
  });

  test("are found by any words of name, label and taint", () => {
    const { explorer } = open();
    explorer.navigation.goToCycle(1);
    const found = (query: string): number => explorer.fold.nodesSeen.filter(nodeMatcher(explorer, query)!).length;
    expect(found("pool=gpu")).toBe(1);
    expect(found("NODE-000 general")).toBeGreaterThan(1);
    expect(nodeMatcher(explorer, "  ")).toBeNull();
  });
});
