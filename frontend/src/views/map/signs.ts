// Verdicts in the order of the legend, and the mark of each.

import type { Tone } from "../../base/ui/tones.ts";
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
};

export const LEGEND = [
  Verdict.CHOSEN,
  Verdict.NOMINATED,
  Verdict.FEASIBLE,
  Verdict.REJECTED,
  Verdict.UNEVALUATED,
  Verdict.SKIPPED,
  Verdict.UNEXAMINED,
  Verdict.UNKNOWN,
];
