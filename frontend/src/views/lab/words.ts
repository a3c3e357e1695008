// Changes in words.

import "../../base/text/late.ts";
import { t, type TextKey } from "../../base/text/text.ts";
import { taintText } from "../../store/nodes.ts";
import type { Change, Scoring, TaintChange } from "../../store/lab-changes.ts";
import {
  expressionText,
  isTakenBy,
  ruleAt,
  rulesOf,
  tolerationText,
  type Expression,
  type PodDocument,
  type Rule,
  type Toleration,
} from "../../store/lab-pod.ts";

/** `pod` is that of the cycle, whose rules are called what they say; null while it is not known. */
export function inWords(change: Change, pod: PodDocument | null): string {
  if ("weight" in change) return t("lab.change.weight", { plugin: change.weight.plugin, n: change.weight.weight });
  if ("set" in change) return setInWords(change.set, pod);
  if ("taint" in change) return t("lab.change.taint", { node: change.taint.node, taint: taint(change.taint) });
  if ("untaint" in change) return t("lab.change.untaint", { node: change.untaint.node, taint: taint(change.untaint) });
  if ("label" in change) {
    const { node, key, value } = change.label;
    return t("lab.change.label", { node, label: `${key}=${value}` });
  }
  if ("unlabel" in change) return t("lab.change.unlabel", { node: change.unlabel.node, label: change.unlabel.key });
  if ("copyNode" in change) return t("lab.change.copies", { node: change.copyNode.node, n: change.copyNode.copies });
  if ("delete" in change) return t("lab.change.delete", { name: change.delete.name });
  if ("scoring" in change) return t("lab.change.scoring", { strategy: scoring(change.scoring) });
  if ("cordon" in change) return t("lab.change.cordon", { node: change.cordon });
  return t("lab.change.uncordon", { node: change.uncordon });
}

type Set = Extract<Change, { set: object }>["set"];

function setInWords({ name, path, value }: Set, pod: PodDocument | null): string {
  const rules = pod?.metadata.name === name ? rulesOf(pod) : [];
  if (value === null) {
    const gone = rules.filter((rule) => isTakenBy(rule, path)).map(ruleInWords);
    return gone.length
      ? t("lab.change.drop", { name, rule: gone.join("; ") })
      : t("lab.change.unset", { name, path: shortPath(path, rules) });
  }
  if (path === TOLERATIONS) {
    return t("lab.change.tolerate", { name, taint: taint(value as unknown as TaintChange) });
  }
  const more = path === TOLERATIONS ? null : ruleAt(path, value);
  if (more) return t("lab.change.soften", { name, rule: ruleInWords(more) });
  const softened = rules.find((rule) => rule.softened?.path === path && same(rule.softened.value, value));
  if (softened) return t("lab.change.soften", { name, rule: ruleInWords({ ...softened, isRequired: false }) });
  const edited = rules.flatMap(({ expressions = [] }) => expressions).find((each) => each.path === path);
  if (edited) {
    const [from, to] = [edited.value, value as unknown as Expression].map(expressionText);
    return t("lab.change.rule", { name, from: from!, to: to! });
  }
  const tolerated = rules.find((rule) => rule.toleration && rule.path === path)?.toleration;
  if (tolerated) {
    const [from, to] = [tolerated, value as unknown as Toleration].map(tolerationText);
    return t("lab.change.rule", { name, from: from!, to: to! });
  }
  const field = shortPath(path, rules);
  return t("lab.change.set", { name, path: field, value: typeof value === "string" ? value : JSON.stringify(value) });
}

/** A path without what goes without saying: `requests cpu`, `allocatable memory`, or the rule it is part of. */
function shortPath(path: string, rules: readonly Rule[]): string {
  const rule = rules.find((each) => path.startsWith(`${each.path}.`));
  if (rule) return `${ruleInWords(rule)}: ${path.slice(rule.path.length + 1)}`;
  const of =
    /^(?:spec\.(?:containers|initContainers)\[\d+\]\.resources|spec\.resources|status)\.(\w+)\[([^\]]+)\]$/.exec(path);
  if (of) return `${of[1]} ${of[2]}`;
  return path.replace(/^spec\./, "");
}

/** A rule of a pod, as one would say it. */
export function ruleInWords({ kind, isRequired, asks, topologyKey = "" }: Rule): string {
  const key = `lab.rule.${kind}${isRequired || kind === "selector" ? "" : ".soft"}` as TextKey;
  return t(key, { asks: asks || t("lab.rule.any"), key: topologyKey });
}

function scoring({ type, shape = [] }: Scoring): string {
  const points = shape.map(({ utilization, score }) => `${utilization} %: ${score}`);
  return points.length ? `${type} (${points.join(", ")})` : type;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Where a toleration is added. */
export const TOLERATIONS = "spec.tolerations[+]";

const taint = ({ key, value = "", effect }: Pick<TaintChange, "key" | "value" | "effect">): string =>
  taintText({ key, value, effect });
