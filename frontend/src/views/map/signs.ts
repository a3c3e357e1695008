// Verdicts in the order of the legend, and the mark of each.

import type { TermId } from "../../base/glossary.ts";
import { number, t, type TextKey } from "../../base/text/text.ts";
import type { Tone } from "../../base/ui/tones.ts";
import { FULL_SCALE, type Measure } from "../../store/nodes.ts";
import { Verdict } from "../../store/verdicts.ts";

export const TONES: Record<Verdict, Tone> = {
  [Verdict.CHOSEN]: "chosen",
  [Verdict.NOMINATED]: "nominated",
  [Verdict.FEASIBLE]: "feasible",
  [Verdict.REJECTED]: "rejected",
  [Verdict.UNEVALUATED]: "unevaluated",
  [Verdict.SKIPPED]: "skipped",
  [Verdict.UNEXAMINED]: "unexamined",
  [Verdict.UNKNOWN]: "unevaluated",
  [Verdict.HELD]: "held",
};

export const TERMS: Record<Verdict, TermId> = {
  [Verdict.CHOSEN]: "chosen",
  [Verdict.NOMINATED]: "nomination",
  [Verdict.FEASIBLE]: "feasible",
  [Verdict.REJECTED]: "rejected",
  [Verdict.UNEVALUATED]: "not-evaluated",
  [Verdict.SKIPPED]: "skip",
  [Verdict.UNEXAMINED]: "not-examined",
  [Verdict.UNKNOWN]: "unknown",
  [Verdict.HELD]: "two-pass-filter",
};

export const LEGEND = [
  Verdict.CHOSEN,
  Verdict.NOMINATED,
  Verdict.FEASIBLE,
  Verdict.HELD,
  Verdict.REJECTED,
  Verdict.UNEVALUATED,
  Verdict.SKIPPED,
  Verdict.UNEXAMINED,
  Verdict.UNKNOWN,
];

/** What a scale of colours measures. */
export const scaleName = (kind: string): string =>
  isScore(kind) || kind === "pods" ? t(`map.scale.${kind}` as TextKey) : t("map.scale.use", { resource: kind });

/** A value at an end of the scale. */
export const scaleEnd = ({ kind }: Measure, value: number): string =>
  isScore(kind) ? number(value) : `${Math.round(100 * value)}%`;

const isScore = (kind: string): boolean => kind === "score" || kind === FULL_SCALE;
