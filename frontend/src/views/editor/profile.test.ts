import { describe, expect, it } from "vitest";

import {
  canBeChanged,
  type PluginOfProfile,
  withPercentage,
  withPlugin,
  withPoint,
  withSpreading,
  withStrategy,
  withWeight,
} from "./profile.ts";

const HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
const DEFAULT = `${HEAD}profiles:\n- schedulerName: default-scheduler\n`;
const SPREAD: PluginOfProfile = {
  name: "PodTopologySpread",
  implements: ["PreFilter", "Filter", "PreScore", "Score"],
  points: [],
  weight: null,
};

const plugins = (lines: string): string => `${DEFAULT}  plugins:\n${lines}`;

describe("a choice becomes the shortest YAML", () => {
  it("that turns a plugin off at one point, and takes that back", () => {
    const off = withPoint("", 0, "ImageLocality", "Score", false);
    expect(off).toBe(plugins("    score:\n      disabled:\n      - name: ImageLocality\n"));
    expect(withPoint(off, 0, "ImageLocality", "Score", true)).toBe(DEFAULT);
  });

  it("that turns a plugin off everywhere, and on again", () => {
    const off = withPlugin("", 0, SPREAD, false);
    expect(off).toBe(plugins("    multiPoint:\n      disabled:\n      - name: PodTopologySpread\n"));
    expect(withPlugin(off, 0, SPREAD, true)).toBe(DEFAULT);
    const filtering = withPoint(off, 0, SPREAD.name, "Filter", true);
    expect(filtering).toContain("    filter:\n      enabled:\n      - name: PodTopologySpread\n");
    expect(withPoint(filtering, 0, SPREAD.name, "Filter", false)).toBe(off);
  });

  it("that names a plugin where all others are off", () => {
    const none = plugins('    score:\n      disabled:\n      - name: "*"\n');
    const one = withPoint(none, 0, "ImageLocality", "Score", true);
    expect(one).toBe(`${none}      enabled:\n      - name: ImageLocality\n`);
    expect(withPoint(one, 0, "ImageLocality", "Score", false)).toBe(none);
  });

  it("that weighs a plugin where it is named", () => {
    const heavy = withWeight("", 0, "NodeAffinity", 5);
    expect(heavy).toBe(plugins("    score:\n      enabled:\n      - name: NodeAffinity\n        weight: 5\n"));
    expect(withWeight(heavy, 0, "NodeAffinity", 7)).toContain("weight: 7");
    const multi = plugins("    multiPoint:\n      enabled:\n      - name: NodeAffinity\n        weight: 3\n");
    expect(withWeight(multi, 0, "NodeAffinity", 4)).toBe(multi.replace("3", "4"));
  });

  it("that sets arguments and the share of nodes", () => {
    const most = withStrategy("", 0, "MostAllocated");
    expect(most).toContain(
      "- name: NodeResourcesFit\n    args:\n      scoringStrategy:\n        type: MostAllocated\n",
    );
    const ratio = withStrategy(most, 0, "RequestedToCapacityRatio");
    expect(ratio).toContain("- utilization: 100\n            score: 10\n");
    expect(withStrategy(ratio, 0, "MostAllocated")).toBe(most);
    expect(withSpreading("", 0, "List")).toContain("args:\n      defaultingType: List\n");
    const half = withPercentage("", 0, 50);
    expect(half).toBe(`${DEFAULT}  percentageOfNodesToScore: 50\n`);
    expect(withPercentage(half, 0, null)).toBe(DEFAULT);
  });
});

it("leaves comments, other profiles and their indentation alone", () => {
  const two = `${HEAD}# ours\nprofiles:\n  - schedulerName: one # first\n  - schedulerName: two\n`;
  const changed = withPercentage(two, 1, 10);
  expect(changed).toBe(`${two}    percentageOfNodesToScore: 10\n`);
});

it("changes nothing but a configuration", () => {
  expect(canBeChanged("")).toBe(true);
  expect(canBeChanged(DEFAULT)).toBe(true);
  for (const other of ["kind: ConfigMap\n", "a: [", "just words"]) expect(canBeChanged(other)).toBe(false);
});
