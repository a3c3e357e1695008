// Changes in words.

import "../../base/text/late.ts";
import { t } from "../../base/text/text.ts";
import { taintText } from "../../store/nodes.ts";
import type { Change, TaintChange } from "../../store/lab-changes.ts";

export function inWords(change: Change): string {
  if ("weight" in change) return t("lab.change.weight", { plugin: change.weight.plugin, n: change.weight.weight });
  if ("set" in change) return setInWords(change.set);
  if ("taint" in change) return t("lab.change.taint", { node: change.taint.node, taint: taint(change.taint) });
  if ("untaint" in change) return t("lab.change.untaint", { node: change.untaint.node, taint: taint(change.untaint) });
  if ("label" in change) {
    const { node, key, value } = change.label;
    return t("lab.change.label", { node, label: `${key}=${value}` });
  }
  if ("unlabel" in change) return t("lab.change.unlabel", { node: change.unlabel.node, label: change.unlabel.key });
  if ("cordon" in change) return t("lab.change.cordon", { node: change.cordon });
  return t("lab.change.uncordon", { node: change.uncordon });
}

type Set = Extract<Change, { set: object }>["set"];

function setInWords({ name, path, value }: Set): string {
  if (value === null) return t("lab.change.unset", { name, path });
  if (path === TOLERATIONS) {
    return t("lab.change.tolerate", { name, taint: taint(value as unknown as TaintChange) });
  }
  return t("lab.change.set", { name, path, value: typeof value === "string" ? value : JSON.stringify(value) });
}

/** Where a toleration is added. */
export const TOLERATIONS = "spec.tolerations[+]";

const taint = ({ key, value = "", effect }: Pick<TaintChange, "key" | "value" | "effect">): string =>
  taintText({ key, value, effect });
