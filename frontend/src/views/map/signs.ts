// Verdicts in the order of the legend, and the mark of each.

import type { Tone } from "../../base/ui/tones.ts";
import { Verdict } from "../../store/verdicts.ts";

export const TONES: Record<Verdict, Tone> = {
  [Verdict.CHOSEN]: "chosen",
  [Verdict.NOMINATED]: "nominated",
  [Verdict.FEASIBLE]: "feasible",
  [Verdict.REJECTED]: "rejected",
  [Verdict.UNASKED]: "unasked",
  [Verdict.SKIPPED]: "skipped",
  [Verdict.UNEXAMINED]: "unexamined",
  [Verdict.UNKNOWN]: "unasked",
};

export const LEGEND = [
  Verdict.CHOSEN,
  Verdict.NOMINATED,
  Verdict.FEASIBLE,
  Verdict.REJECTED,
  Verdict.UNASKED,
  Verdict.SKIPPED,
  Verdict.UNEXAMINED,
  Verdict.UNKNOWN,
];
