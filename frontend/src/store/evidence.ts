// Which evidence the selection asks for: one node of one cycle, beside which other node, and what of it may be shown.

import "../base/text/late.ts";
import { t } from "../base/text/text.ts";
import type { NodeIndex } from "../base/units.ts";
import { Answers } from "./answers.svelte.ts";
import type { Explorer } from "./explorer.ts";
import { inOrder, read } from "./lab-changes.ts";
import { attemptOf, nodeAtHand } from "./nodes.ts";
import { isAhead } from "./position.ts";
import type { CycleRecord } from "./record.ts";
import type { NodeAnswer, PluginEvidence, Requirement } from "../wire/evidence.ts";

const known = new WeakMap<Explorer, Answers>();

/** What the server answers about a run; null where there is no server. */
export function answersOf(explorer: Explorer): Answers | null {
  if (!explorer.ask) return null;
  const answers = known.get(explorer) ?? new Answers(explorer.ask);
  known.set(explorer, answers);
  return answers;
}

export interface Question {
  readonly record: CycleRecord;
  readonly node: NodeIndex;
  /** What the node is compared with; -1 for nothing. */
  readonly other: NodeIndex;
  readonly path: string;
  /** Whether the cycle has come to its scores: before, they are not given away. */
  readonly isScored: boolean;
}

/** What the selected node and pod ask; null where there is nothing to ask yet. */
export function questionOf(explorer: Explorer): Question | null {
  const record = attemptOf(explorer);
  const node = subjectNode(explorer, record);
  if (!record || node < 0 || isAheadOf(explorer, record, "Filter")) return null;
  const isScored = !isAheadOf(explorer, record, "Score");
  const other = otherNode(explorer, record, node, isScored);
  return { record, node, other, path: nodePath(explorer, record, node, other), isScored };
}

/** What is not met on a node, with values; empty where all is, or where no value says it. */
export const objectionOf = ({ evidence, pod_rejections }: NodeAnswer): string =>
  [evidence.sentence, ...pod_rejections.map((each) => each.sentence)].find(Boolean) ?? "";

/** What there is to say of a node in one sentence. */
export function saidOfNode(answer: NodeAnswer): string {
  const { pod, feasible, pod_rejections } = answer;
  const sentence = objectionOf(answer);
  if (sentence) return t("node.says", { pod, sentence });
  const reason = pod_rejections.flatMap((each) => each.reasons).join(", ");
  if (reason) return t("story.preFilterFails", { pod, reason });
  return t(feasible ? "node.fits" : "node.wouldFit", { pod });
}

/** The node one asked for, or that of the pod, or the one that came nearest. */
export function subjectNode(explorer: Explorer, record: CycleRecord | null): NodeIndex {
  const node = nodeAtHand(explorer);
  if (node >= 0 || !record || isAheadOf(explorer, record, "Filter")) return node;
  const detail = explorer.navigation.record === record ? explorer.details.ready : null;
  return explorer.why(record, detail).nearest[0]?.node ?? -1;
}

/** The node one chose to compare with; or, among scored ones, the winner, and for the winner the runner-up. */
function otherNode(
  { selection, details, navigation }: Explorer,
  record: CycleRecord,
  node: NodeIndex,
  isScored: boolean,
): NodeIndex {
  const { other } = selection;
  if (other >= 0 && other !== node) return other;
  const { selected } = record;
  if (!isScored || !selected || selected.rule === "single") return -1;
  if (node === selected.node) return selected.runner_up;
  const detail = navigation.record === record ? details.ready : null;
  return detail?.scores?.at.has(node) ? selected.node : -1;
}

function isAheadOf({ navigation }: Explorer, record: CycleRecord, point: "Filter" | "Score"): boolean {
  return navigation.record === record && isAhead(navigation, point);
}

/** Where the answer about a node is, of the cycle as it is shown; `other` is -1 for none beside it. */
export function nodePath(explorer: Explorer, record: CycleRecord, node: NodeIndex, other: NodeIndex): string {
  const path = `cycles/${record.number}/nodes/${encodeURIComponent(explorer.nodeName(node))}/`;
  const query = new URLSearchParams();
  if (other >= 0) query.set("against", explorer.nodeName(other));
  if (isTried(explorer, record)) query.set("changes", JSON.stringify(inOrder(read(explorer.changes) ?? [])));
  return query.size ? `${path}?${query}` : path;
}

/** Whether what is shown of a cycle is what is tried. */
const isTried = ({ tried }: Explorer, record: CycleRecord): boolean => tried?.record === record;

export const podPath = ({ number }: CycleRecord): string => `cycles/${number}/evidence/`;

export const markdownPath = ({ number }: CycleRecord, namespace: string, name: string): string =>
  `pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/why/markdown/?cycle=${number}`;

/** One line of the comparison of pod and node. */
export interface Line {
  readonly plugin: string;
  readonly requirement: Requirement;
  /** Nominated pods that were counted as if they were there, where they matter. */
  readonly counted: readonly string[];
}

/** Whether an answer is about the cycle shown as it happened, while something else is tried of it. */
export const missesTried = ({ tried }: Explorer, path: string): boolean =>
  tried !== null && path.startsWith(`cycles/${tried.record.number}/`) && !path.includes("changes=");

/** What plugins ask, what is not met first. */
export function linesOf(plugins: readonly PluginEvidence[]): Line[] {
  const lines = plugins.flatMap(({ plugin, requirements, with_nominated }) =>
    requirements.map((requirement) => ({ plugin, requirement, counted: requirement.met ? [] : with_nominated })),
  );
  return [...lines.filter((line) => !line.requirement.met), ...lines.filter((line) => line.requirement.met)];
}
