// The diagrams at moments of a made-up run: what is lit agrees with the state, and nothing ahead is given away.

import { beforeEach, describe, expect, test } from "vitest";

import { POINT_TERMS } from "../base/glossary.ts";
import { SyntheticRun } from "../testing/synthetic.ts";
import { Cache, Queue } from "../wire/events.ts";
import { lightsOf } from "./diagrams.ts";
import { Explorer } from "./explorer.ts";
import { POD } from "./fold.ts";
import { QUEUE_TERMS } from "./lanes.ts";
import { readAddress } from "./link.ts";

const run = new SyntheticRun({ nodes: 12, pods: 60, chunk: 200, seed: 3 });

describe("the diagrams", () => {
  let explorer: Explorer;
  const at = (search: string): void => explorer.open(readAddress(search));

  beforeEach(() => {
    explorer = new Explorer("run", (cycle) => Promise.resolve(run.detail(cycle)));
    explorer.begin(readAddress(""), true);
    for (const chunk of run.chunks()) explorer.receive(chunk);
  });

  test("the queue counts what the state counts, and lights where the pod is", () => {
    at("?c=5&p=Filter");
    const { parts, counts } = lightsOf(explorer, "queues");
    expect([...parts]).toEqual([["in-flight", "lit"]]);
    expect(counts.get("active-queue")).toBe(explorer.state.count(Queue.ACTIVE));
    expect(counts.size).toBe(Object.keys(QUEUE_TERMS).length);
  });

  test("of the cycles, what one has passed is done and what is ahead is dark", () => {
    at("?c=5&p=Filter");
    const { parts } = lightsOf(explorer, "cycles");
    expect(parts.get("pre-enqueue")).toBe("done");
    expect(parts.get("pre-filter")).toBe("done");
    expect(parts.get("filter")).toBe("lit");
    for (const term of ["score", "normalize-score", "reserve", "permit", "bind"] as const)
      expect(parts.get(term), term).toBeUndefined();
  });

  test("NormalizeScore is where Score is", () => {
    at("?c=5&p=Score");
    const { parts } = lightsOf(explorer, "cycles");
    expect([parts.get("score"), parts.get("normalize-score")]).toEqual(["lit", "lit"]);
    expect(parts.get("filter")).toBe("done");
  });

  test("a whole cycle lights one point, or Score with NormalizeScore", () => {
    for (let cycle = 1; cycle <= explorer.nCycles; cycle++) {
      at(`?c=${cycle}`);
      const lit = [...lightsOf(explorer, "cycles").parts].filter(([, light]) => light === "lit").map(([term]) => term);
      expect(lit.length === 1 || lit.join() === "score,normalize-score", `${cycle}: ${lit.join()}`).toBe(true);
    }
  });

  test("before the first cycle nothing is lit", () => {
    at("?c=0");
    explorer.navigation.goToCycle(0);
    expect(lightsOf(explorer, "cycles").parts.size).toBe(0);
  });

  test("the cache counts pods that are assumed and added", () => {
    explorer.navigation.goToCycle(explorer.nCycles);
    const { counts } = lightsOf(explorer, "cache");
    const held = (cache: Cache): number =>
      explorer.state.podsWhere((pod) => explorer.state.pod(pod, POD.CACHE) === cache).length;
    expect(counts.get("assume")).toBe(held(Cache.ASSUMED));
    expect(counts.get("added")).toBe(held(Cache.ADDED));
    expect(counts.get("added")! + counts.get("assume")!).toBeGreaterThan(0);
  });

  test("every extension point has a station", () => {
    expect(Object.keys(POINT_TERMS)).toEqual(
      expect.arrayContaining(["PreEnqueue", "QueueSort", "NormalizeScore", "Unreserve"]),
    );
  });
});
