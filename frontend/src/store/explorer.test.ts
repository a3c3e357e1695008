// The store as the views use it, over a made-up run: stepping, selection, addresses, details.

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
import { funnel, latestMoves, nearestMisses } from "./why.ts";

const run = new SyntheticRun({ nodes: 12, pods: 400, chunk: 200, seed: 3 });
const settled = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** Wait for the detail of the cycle shown; hurried requests take a moment longer. */
const arrived = (explorer: Explorer): Promise<unknown> =>
  vi.waitFor(() => expect(["ready", "failed"]).toContain(explorer.frame.detail.kind));

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
    expect(explorer.frame.position.cycle).toBe(1);
    const inOne = new Explorer("run", () => new Promise(() => undefined));
    inOne.begin(readAddress(""), true);
    const [only] = new SyntheticRun({ nodes: 3, pods: 5, chunk: 1e6 }).chunks();
    inOne.receive(only!);
    expect(inOne.frame.position.cycle).toBe(1);
    inOne.begin(readAddress("?c=0"), true);
    expect(inOne.frame.position.cycle).toBe(0);
    const live = open("", false).explorer;
    expect(live.frame.following).toBe(true);
    expect(live.frame.position.cycle).toBe(live.frame.nCycles);
  });

  test("steps by cycle, both ways, and stops at the ends", () => {
    explorer.step(1);
    expect(explorer.frame.position).toEqual({ cycle: 2, point: null, plugin: null });
    explorer.step(-1);
    explorer.step(-1);
    expect(explorer.frame.position.cycle).toBe(0);
    expect(explorer.step(-1)).toBe(false);
    explorer.goToCycle(1e9);
    expect(explorer.frame.position.cycle).toBe(explorer.frame.nCycles);
    expect(explorer.step(1)).toBe(false);
  });

  test("steps through every point of a cycle and on into the next", () => {
    explorer.setGranularity("point");
    const seen = [explorer.frame.position.point];
    while (explorer.frame.position.cycle === 1) {
      explorer.step(1);
      seen.push(explorer.frame.position.point);
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
    explorer.step(-1);
    expect(explorer.frame.position).toMatchObject({ cycle: 1, point: "Bind" });
  });

  test("forward and back by plugin visit the same places", () => {
    explorer.setGranularity("plugin");
    const there = [explorer.frame.position];
    for (let i = 0; i < 80; i++) {
      explorer.step(1);
      there.push(explorer.frame.position);
    }
    expect(new Set(there.map((p) => JSON.stringify(p))).size).toBe(81);
    for (const place of [...there].reverse().slice(1)) {
      explorer.step(-1);
      expect(explorer.frame.position).toEqual(place);
    }
  });

  test("coarser and finer keep the place", () => {
    explorer.go({ cycle: 3, point: "Filter", plugin: explorer.pluginNumber("TaintToleration") });
    expect(explorer.frame.by).toBe("plugin");
    explorer.setGranularity("point");
    expect(explorer.frame.position).toEqual({ cycle: 3, point: "Filter", plugin: null });
    explorer.setGranularity("cycle");
    expect(explorer.frame.position).toEqual({ cycle: 3, point: null, plugin: null });
  });

  test("the state at a point is that of the point", () => {
    const pod = explorer.frame.record!.started.pod;
    explorer.go({ cycle: 1, point: "Filter", plugin: null });
    expect(explorer.state.queueOf(pod)).toBe(Queue.IN_FLIGHT);
    expect(explorer.state.nodeOf(pod)).toBe(-1);
    explorer.go({ cycle: 1, point: "Reserve", plugin: null });
    expect(explorer.state.nodeOf(pod)).toBe(explorer.frame.record!.selected!.node);
  });

  test("finds failures in both directions, and says when there is none", () => {
    expect(explorer.toFailure(1)).toBe(true);
    const first = explorer.frame.position.cycle;
    expect(explorer.frame.record!.filter!.n_feasible).toBe(0);
    expect(explorer.toFailure(-1)).toBe(false);
    explorer.toFailure(1);
    expect(explorer.frame.position.cycle).toBeGreaterThan(first);
    explorer.toFailure(-1);
    expect(explorer.frame.position.cycle).toBe(first);
  });

  test("follows a pod from event to event", () => {
    while (explorer.toFailure(1) && explorer.frame.pod % 3 !== 0); // every third is woken again
    const { pod } = explorer.frame;
    const cycles = [explorer.frame.position.cycle];
    while (explorer.toEventOfPod(1)) cycles.push(explorer.frame.position.cycle);
    expect(cycles.length).toBeGreaterThan(1);
    expect(cycles).toEqual([...new Set(cycles)].sort((a, b) => a - b));
    expect(explorer.frame.pod).toBe(pod);
    expect(explorer.frame.podIsPinned).toBe(true);
  });
});

describe("addresses", () => {
  test("lead back to the same view, whenever the data come", async () => {
    const { explorer } = open();
    explorer.go({ cycle: 7, point: "Filter", plugin: explorer.pluginNumber("NodeResourcesFit") });
    explorer.select({ pod: 5, node: 3, tab: "filter" });
    explorer.setMap({ group: "pool", colour: "cpu" });
    const search = writeAddress(explorer.address, "?share=abc");
    expect(search).toContain("share=abc");
    expect(search).toContain("c=7&p=Filter&g=NodeResourcesFit");
    const again = open(search).explorer;
    await arrived(again);
    const look = ({ frame }: Explorer) => [frame.position, frame.by, frame.pod, frame.node, frame.tab, frame.map];
    expect(look(again)).toEqual(look(explorer));
  });

  test("with nonsense in them open the run all the same", () => {
    const { explorer } = open("?c=99999999&p=Nowhere&g=Nobody&pod=a/b&n=none&tab=magic");
    expect(explorer.frame.position.cycle).toBe(explorer.frame.nCycles);
    expect(explorer.frame.tab).toBe("why");
    expect(readAddress("?c=-1").cycle).toBeNull();
  });

  test("naming what never comes do not hold on to the view", () => {
    const explorer = new Explorer("run", (cycle) => Promise.resolve(run.detail(cycle)));
    explorer.begin(readAddress("?c=5&n=none"), true);
    const chunks = [...run.chunks()];
    for (const chunk of chunks.slice(0, -1)) explorer.receive(chunk);
    expect(explorer.frame.position.cycle).toBe(5);
    explorer.step(1);
    explorer.receive(chunks.at(-1)!);
    expect(explorer.frame.position.cycle).toBe(6);
  });

  test("are told of what changes, not of what is only played", () => {
    const { explorer } = open();
    const told = vi.fn();
    explorer.onNavigate = told;
    explorer.goToCycle(4);
    explorer.step(1);
    explorer.setPlaying(true);
    expect(told.mock.calls).toEqual([["push"], ["replace"]]);
  });
});

describe("details", () => {
  test("are fetched for the cycle shown, and ahead in the direction of steps", async () => {
    const { explorer, fetched } = open();
    await settled(80);
    explorer.goToCycle(20);
    await arrived(explorer);
    await settled(80);
    explorer.step(1);
    await arrived(explorer);
    expect(fetched.slice(-3)).toEqual([21, 22, 23]);
  });

  test("of cycles scrubbed past are not fetched", async () => {
    const { explorer, fetched } = open();
    await arrived(explorer);
    for (let cycle = 50; cycle < 100; cycle++) explorer.scrub(cycle);
    await arrived(explorer);
    expect(explorer.frame.detail.kind).toBe("ready");
    const far = fetched.filter((cycle) => cycle >= 50);
    expect(far.at(-1)).toBe(99);
    expect(far.length).toBeLessThanOrEqual(2); // the first is not yet known to be one of many
  });

  test("a pointer that stays on its cycle changes nothing", () => {
    const { explorer } = open();
    explorer.scrub(50);
    const { frame } = explorer;
    explorer.scrub(50);
    expect(explorer.frame).toBe(frame);
  });

  test("that fail can be tried again", async () => {
    let broken = true;
    const explorer = new Explorer("run", (cycle) =>
      broken ? Promise.reject(new Error("503 Unavailable")) : Promise.resolve(run.detail(cycle)),
    );
    explorer.begin(readAddress("?c=2"), true);
    for (const chunk of run.chunks()) explorer.receive(chunk);
    await arrived(explorer);
    expect(explorer.frame.detail).toEqual({ kind: "failed", message: "503 Unavailable" });
    broken = false;
    explorer.retryDetail();
    await arrived(explorer);
    expect(explorer.frame.detail.kind).toBe("ready");
  });
});

describe("verdicts", () => {
  test("agree with the counts of the header", async () => {
    const { explorer } = open();
    for (const cycle of [1, 40, 200, explorer.frame.nCycles]) {
      explorer.goToCycle(cycle);
      await arrived(explorer);
      const { filter, selected } = explorer.frame.record!;
      const verdicts = [...verdictsAt(explorer, explorer.frame)];
      const count = (v: number): number => verdicts.filter((x) => x === v).length;
      expect(count(Verdict.FEASIBLE) + count(Verdict.CHOSEN)).toBe(filter!.n_feasible);
      expect(count(Verdict.REJECTED)).toBe(filter!.n_examined - filter!.n_feasible);
      expect(count(Verdict.CHOSEN)).toBe(selected ? 1 : 0);
    }
  });

  test("of one plugin tell rejected from never asked", async () => {
    const { explorer } = open();
    const { record } = explorer.frame;
    const filter = record!.points.find((p) => p.point === "Filter")!;
    for (const { plugin, rejected, outcome } of filter.plugins) {
      explorer.go({ cycle: 1, point: "Filter", plugin });
      await arrived(explorer);
      const verdicts = [...verdictsAt(explorer, explorer.frame)];
      expect(verdicts.filter((v) => v === Verdict.REJECTED).length).toBe(rejected);
      expect(verdicts.includes(Verdict.SKIPPED)).toBe(outcome === "skipped");
    }
    explorer.go({ cycle: 1, point: "Filter", plugin: explorer.pluginNumber("NodeResourcesFit") });
    expect([...verdictsAt(explorer, explorer.frame)]).toContain(Verdict.UNASKED);
  });

  test("before the pick do not give it away", async () => {
    const { explorer } = open();
    explorer.go({ cycle: 1, point: "Filter", plugin: null });
    await arrived(explorer);
    expect([...verdictsAt(explorer, explorer.frame)]).not.toContain(Verdict.CHOSEN);
  });

  test("colour follows the scores while one looks at scoring", async () => {
    const { explorer } = open();
    await arrived(explorer);
    expect(measureAt(explorer, explorer.frame).kind).toBe("verdict");
    explorer.go({ cycle: 1, point: "Score", plugin: null });
    await arrived(explorer);
    const { kind, high } = measureAt(explorer, explorer.frame);
    expect(kind).toBe("score");
    expect(high).toBe(explorer.frame.record!.selected!.total);
  });
});

describe("what is told", () => {
  test("lanes hold every waiting pod once, in order of priority", () => {
    const { explorer } = open();
    explorer.goToCycle(100);
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
    explorer.toFailure(1);
    await arrived(explorer);
    const { record, detail } = explorer.frame;
    if (detail.kind !== "ready") throw new Error("no detail");
    const steps = funnel(record!, detail.detail);
    expect(steps.at(-1)!.left).toBe(0);
    expect(steps.flatMap((s) => s.reasons).length).toBeGreaterThan(0);
    const misses = nearestMisses(explorer, record!, detail.detail, 3);
    expect(misses.length).toBe(3);
    expect(explorer.pluginName(misses[0]!.plugin)).toBe("NodeResourcesFit");
    const all = nearestMisses(explorer, record!, detail.detail, 1000);
    expect(all.map(({ node }) => node).sort((a, b) => a - b)).toEqual(
      [...detail.detail.examined].sort((a, b) => a - b),
    );
    expect(misses).toEqual(all.slice(0, 3));
    const requests = explorer.state.podFacts(record!.started.pod)!.requests;
    const lacking = all
      .filter(({ short }) => short.length === 1)
      .map(({ plugin, short: [one] }) => ({
        plugin,
        share: one!.amount / requests[explorer.state.resources.indexOf(one!.resource)]!,
      }));
    expect(lacking.length).toBeGreaterThan(1);
    expect(lacking).toEqual([...lacking].sort((a, b) => a.share - b.share));
  });

  test("a pod's moves lead to where they are seen", () => {
    const { explorer } = open();
    explorer.toFailure(1);
    const [move] = latestMoves(explorer, explorer.frame.pod, 5);
    expect(move!.move.event).toBe("ScheduleAttemptFailure");
    expect(move!.cycle).toBe(explorer.frame.position.cycle);
  });

  test("every stop of a run has a sentence", () => {
    const { explorer } = open();
    explorer.setGranularity("plugin");
    for (let i = 0; i < 200 && explorer.step(1); i++) {
      const { key, params } = narrate(explorer, explorer.frame);
      expect(key).toMatch(/^story\./);
      expect(Object.values(params)).not.toContain(undefined);
    }
  });
});

describe("nodes", () => {
  test("groups keep every node, in a stable order", () => {
    const { explorer } = open();
    const grouping = new Grouping(explorer.fold);
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
    explorer.goToCycle(1);
    const found = (query: string): number => explorer.fold.nodesSeen.filter(nodeMatcher(explorer, query)!).length;
    expect(found("pool=gpu")).toBe(1);
    expect(found("NODE-000 general")).toBeGreaterThan(1);
    expect(nodeMatcher(explorer, "  ")).toBeNull();
  });
});
