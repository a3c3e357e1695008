// Which node, beside which other, in which cycle: what the selection asks.

import { beforeEach, describe, expect, test, vi } from "vitest";

import { SyntheticRun } from "../testing/synthetic.ts";
import type { NodeAnswer, PluginEvidence, Requirement } from "../wire/evidence.ts";
import { answersOf, linesOf, questionOf, saidOfNode } from "./evidence.ts";
import { Explorer } from "./explorer.ts";
import { readAddress, writeAddress } from "./link.ts";

const run = new SyntheticRun({ nodes: 12, pods: 400, chunk: 200, seed: 3 });

describe("the question", () => {
  let explorer: Explorer;
  beforeEach(() => {
    const none = (): Promise<never> => new Promise(() => undefined);
    const detail = (cycle: number): Promise<Uint8Array> => Promise.resolve(run.detail(cycle));
    explorer = new Explorer("run", detail, null, null, null, null, none);
    explorer.begin(readAddress(""), true);
    for (const chunk of run.chunks()) explorer.receive(chunk);
  });
  const path = (): string | undefined => questionOf(explorer)?.path;
  const name = (node: number): string => explorer.nodeName(node);
  const arrived = (): Promise<unknown> => vi.waitFor(() => expect(explorer.details.shown.kind).toBe("ready"));

  test("the winner is set beside the runner-up, another scored node beside the winner", async () => {
    await arrived();
    const selected = explorer.navigation.record!.selected!;
    explorer.selection.select({ node: selected.node });
    expect(path()).toBe(`cycles/1/nodes/${name(selected.node)}/?against=${name(selected.runner_up)}`);
    explorer.selection.select({ node: selected.runner_up });
    expect(path()).toBe(`cycles/1/nodes/${name(selected.runner_up)}/?against=${name(selected.node)}`);
  });

  test("a node one chose goes before, and stands in the address", async () => {
    await arrived();
    explorer.selection.select({ node: 2, other: 5, tab: "node" });
    expect(path()).toBe(`cycles/1/nodes/${name(2)}/?against=${name(5)}`);
    const search = writeAddress(explorer.address, "");
    expect(search).toContain(`vs=${name(5)}`);
    explorer.selection.select({ other: 2 });
    expect(questionOf(explorer)!.other).not.toBe(2);
    explorer.open(readAddress(search));
    expect(explorer.selection.other).toBe(5);
  });

  test("before Filter nothing is asked, before Score no other node is named", async () => {
    await arrived();
    const { node } = explorer.navigation.record!.selected!;
    explorer.selection.select({ node });
    explorer.navigation.go({ cycle: 1, point: "PreFilter", plugin: null });
    expect(questionOf(explorer)).toBeNull();
    explorer.navigation.go({ cycle: 1, point: "Filter", plugin: null });
    expect(questionOf(explorer)).toMatchObject({ other: -1, isScored: false });
  });

  test("without a node it is about the one that came nearest", async () => {
    explorer.navigation.toFailure(1);
    await arrived();
    const { record } = explorer.navigation;
    const [nearest] = explorer.why(record!, explorer.details.ready).nearest;
    expect(questionOf(explorer)).toMatchObject({ node: nearest!.node, other: -1 });
  });

  test("a page without a server has no answers", () => {
    expect(answersOf(explorer)).toBe(answersOf(explorer));
    expect(answersOf(new Explorer("run", () => new Promise(() => undefined)))).toBeNull();
  });
});

test("an old link to the cache opens the node", () => {
  expect(readAddress("?tab=cache").tab).toBe("node");
});

test("what is not met comes first, with the nominated pods that were counted", () => {
  const requirement = (asks: string, met: boolean): Requirement => ({
    kind: "resource",
    met,
    asks,
    has: "",
    sentence: "",
    detail: "",
    asks_parts: [],
    has_parts: [],
    values: {},
  });
  const plugin = (name: string, ...requirements: Requirement[]): PluginEvidence => ({
    plugin: name,
    code: "",
    sentence: "",
    reasons: [],
    with_nominated: ["shop/a"],
    requirements,
  });
  const lines = linesOf([
    plugin("A", requirement("1", true)),
    plugin("B", requirement("2", true), requirement("3", false)),
  ]);
  expect(lines.map((line) => line.requirement.asks)).toEqual(["3", "1", "2"]);
  expect(lines.map((line) => line.counted)).toEqual([["shop/a"], [], []]);
});

describe("a node in one sentence", () => {
  const rejection = { sentence: "", reasons: ["resource claim lab/lens is in the process of being allocated"] };
  const answer = (more: object): NodeAnswer =>
    ({ pod: "lab/watch-1", feasible: false, evidence: { sentence: "" }, pod_rejections: [], ...more }) as never;

  test("would fit only where no plugin rejects the pod before any node", () => {
    expect(saidOfNode(answer({}))).toBe("lab/watch-1 would fit here.");
    expect(saidOfNode(answer({ pod_rejections: [rejection] }))).toBe(
      `lab/watch-1 is rejected before any node is examined: ${rejection.reasons[0]}`,
    );
  });
});
