/** The meanings that have a colour and a shape of their own. */
export type Tone =
  | "feasible" | "rejected" | "chosen" | "nominated" | "victim" | "unexamined" | "unasked"
  | "skipped" | "waiting";
