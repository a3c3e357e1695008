// The rules of a pod: what they say, and what takes them away.

import { describe, expect, test } from "vitest";

import {
  added,
  ADDABLE,
  expressionIn,
  expressionText,
  isTakenBy,
  pathOfDrop,
  ruleAt,
  rulesOf,
  WHOLE,
  type PodDocument,
} from "./lab-pod.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const term = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});
const web = { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "zone" };

const pod: PodDocument = {
  metadata: { namespace: "shop", name: "web" },
  spec: {
    containers: [{ name: "web" }],
    nodeSelector: { disk: "ssd" },
    affinity: {
      nodeAffinity: {
        [REQUIRED]: { nodeSelectorTerms: [term("zone", "In", "a", "b"), term("gpu", "DoesNotExist")] },
        [PREFERRED]: [{ weight: 5, preference: term("size", "Gt", "4") }],
      },
      podAntiAffinity: { [REQUIRED]: [web], [PREFERRED]: [{ weight: 7, podAffinityTerm: web }] },
    },
    topologySpreadConstraints: [{ ...web, maxSkew: 2, whenUnsatisfiable: "ScheduleAnyway" }],
  },
};
const rules = rulesOf(pod);

describe("the rules of a pod", () => {
  test("are all there, in the notation of selectors, each with its path", () => {
    expect(rules.map(({ kind, isRequired, asks }) => `${kind} ${isRequired} ${asks}`)).toEqual([
      "selector true disk=ssd",
      "node true zone in (a, b)",
      "node true !gpu",
      "node false size > 4",
      "apart true app=web",
      "apart false app=web",
      "spread false app=web",
    ]);
    expect(rules[2]!.path).toBe(`spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms[1]`);
    expect(rules[6]!.path).toBe("spec.topologySpreadConstraints[0]");
  });

  test("are softened to what prefers the same", () => {
    expect(rules[4]!.softened).toEqual({
      path: `spec.affinity.podAntiAffinity.${PREFERRED}[+]`,
      value: { weight: 100, podAffinityTerm: web },
    });
    expect(rules[3]!.softened).toBeUndefined();
  });

  test("with the last required term the requirement goes: no term at all would fit nowhere", () => {
    const [, first, second] = rules;
    expect(pathOfDrop(first!, rules, () => false)).toBe(first!.path);
    expect(pathOfDrop(second!, rules, (path) => path === first!.path)).toBe(WHOLE);
    expect(rules.filter((rule) => isTakenBy(rule, WHOLE))).toEqual([first, second]);
  });

  test("are added as they are typed, and read as rules", () => {
    const typed = { tolerates: "gpu=yes:NoSchedule", spread: "zone" } as Record<string, string>;
    const rules = ADDABLE.map((what) => {
      const [{ path, value } = { path: "", value: null }] = added(what, typed[what] ?? "disk=ssd", pod)!;
      return ruleAt(path, value);
    });
    expect(rules.map((rule) => rule && `${rule.kind} ${rule.isRequired} ${rule.asks}`)).toEqual([
      "tolerates true gpu=yes:NoSchedule",
      null,
      "node true disk=ssd",
      "node false disk=ssd",
      "near true disk=ssd",
      "apart true disk=ssd",
      "spread true ",
    ]);
    expect(added("tolerates", "gpu", pod)![0]!.value).toEqual({ key: "gpu", operator: "Exists" });
    expect(added("near", "web", pod)).toBeNull();
    expect(added("selector", "a b=c", pod)).toBeNull();
  });

  test("what is required besides goes into every term, or is the first one", () => {
    const terms = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
    const value = { key: "disk", operator: "NotIn", values: ["hdd", "tape"] };
    expect(added("requires", "disk notin (hdd, tape)", pod)).toEqual([
      { path: `${terms}[0].matchExpressions[+]`, value },
      { path: `${terms}[1].matchExpressions[+]`, value },
    ]);
    const plain = { ...pod, spec: { containers: [] } };
    expect(added("requires", "disk", plain)).toEqual([
      { path: `${terms}[+]`, value: { matchExpressions: [{ key: "disk", operator: "Exists" }] } },
    ]);
  });

  test.each(["disk=ssd", "disk", "!disk", "disk in (a, b)", "disk notin (a)", "size > 4", "size < 4"])(
    "an expression is read as it is written: %s",
    (text) => expect(expressionText(expressionIn(text)!)).toBe(text),
  );

  test.each(["", "!", "!disk=ssd", "disk in a", "disk in (a,)", "a b", "size > 4 5"])("%o is no expression", (text) =>
    expect(expressionIn(text)).toBeNull(),
  );

  test("tolerations that every pod has are not shown", () => {
    const given = { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" };
    const tolerations = [given, { key: "gpu", operator: "Exists" }];
    const [rule, ...more] = rulesOf({ ...pod, spec: { containers: [], tolerations } });
    expect([rule!.asks, rule!.path, more]).toEqual(["gpu", "spec.tolerations[1]", []]);
  });
});
