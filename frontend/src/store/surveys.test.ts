// Devices on demand: asked for once per cycle, not while one steps, and node by node in a large cluster.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { DeviceSurvey } from "../wire/source.ts";
import { Explorer } from "./explorer.ts";
import { readAddress } from "./link.ts";
import { Surveys } from "./surveys.svelte.ts";

const survey = (nodes: readonly string[], total = nodes.length): DeviceSurvey => ({
  note: "",
  problem: "",
  claims: [],
  devices: {},
  nodes: nodes.map((node) => ({ node, rejection: "", pools: [], devices: [] })),
  n_nodes: total,
});

describe("devices on demand", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("a cycle is asked for once, when one stays", async () => {
    const fetch = vi.fn(() => Promise.resolve(survey(["a"])));
    const surveys = new Surveys(fetch);
    surveys.want(1)();
    surveys.want(2);
    expect(surveys.of(2).kind).toBe("loading");
    await vi.advanceTimersByTimeAsync(1000);
    surveys.want(2, "a");
    await vi.advanceTimersByTimeAsync(1000);
    expect(fetch.mock.calls).toEqual([[2, ""]]);
    expect(surveys.of(2)).toMatchObject({ kind: "ready" });
    expect(surveys.onNode(2, "a")?.node.node).toBe("a");
  });

  test("a node that is not among the first is asked for by name, one without devices is not", async () => {
    const fetch = vi.fn((_: number, node: string) => Promise.resolve(survey([node || "a"], 2)));
    const surveys = new Surveys(fetch);
    surveys.want(1, "b");
    await vi.advanceTimersByTimeAsync(1000);
    expect(fetch.mock.calls).toEqual([
      [1, ""],
      [1, "b"],
    ]);
    expect(surveys.onNode(1, "b")?.node.node).toBe("b");
    expect(surveys.onNode(1, "c")).toBeNull();
    const all = new Surveys(vi.fn(() => Promise.resolve(survey(["a"]))));
    all.want(1, "bare");
    await vi.advanceTimersByTimeAsync(1000);
    expect(all.onNode(1, "bare")).toBeNull();
  });

  test("a failure is said, and can be tried again", async () => {
    const fetch = vi.fn(() => Promise.resolve(survey(["a"])));
    fetch.mockImplementationOnce(() => Promise.reject(new Error("too far")));
    const surveys = new Surveys(fetch);
    surveys.want(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(surveys.of(1)).toEqual({ kind: "failed", message: "too far" });
    surveys.retry(1);
    await vi.advanceTimersByTimeAsync(0);
    expect(surveys.of(1).kind).toBe("ready");
  });

  test("only the latest answers are cached", async () => {
    const surveys = new Surveys(() => Promise.resolve(survey(["a"])));
    for (let cycle = 1; cycle <= 60; cycle++) surveys.want(cycle);
    await vi.advanceTimersByTimeAsync(1000);
    expect(surveys.of(60).kind).toBe("ready");
    expect(surveys.of(1).kind).toBe("loading");
  });
});

test("the tab is there when there are devices to ask for", () => {
  const none = (): Promise<never> => new Promise(() => undefined);
  const without = new Explorer("run", none);
  without.begin(readAddress("?tab=devices"), true);
  expect(without.tabs).not.toContain("devices");
  expect(without.selection.tab).toBe("why");
  const having = new Explorer("run", none, null, null, null, none);
  having.begin(readAddress("?tab=devices"), true);
  expect(having.selection.tab).toBe("devices");
});
