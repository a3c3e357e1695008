import type { IconName } from "./icons.ts";

/** The meanings that have a colour and a shape of their own. */
export const SHAPES = {
  feasible: "tick",
  rejected: "cross",
  chosen: "star",
  nominated: "dashed",
  held: "held",
  victim: "slash",
  unexamined: "dot",
  unevaluated: "minus",
  skipped: "minus",
  waiting: "clock",
} as const satisfies Record<string, IconName>;

export type Tone = keyof typeof SHAPES;
