// The rules of a pod: what they say, and what takes them away.

import { describe, expect, test } from "vitest";

import { isTakenBy, pathOfDrop, rulesOf, WHOLE, type PodDocument } from "./lab-pod.ts";

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
});
