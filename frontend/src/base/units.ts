// Numbers that must not be taken for one another. A bare number may become any of them, by being written down or
// computed; none of them ever becomes another: a seq is no cycle, and nanoseconds are no milliseconds.

declare const unit: unique symbol;
type Of<Value, Unit extends string> = Value & { readonly [unit]?: Unit };

/** Nanoseconds: a duration, or since the Unix epoch. More than a JavaScript number holds exactly. */
export type Ns = Of<bigint, "ns">;
/** Milliseconds: a duration, or since the run started. */
export type Ms = Of<number, "ms">;
/** An event's place in the trace, from 0. */
export type Seq = Of<number, "seq">;
/** A cycle's number, from 1; 0 is the time before the first. */
export type Cycle = Of<number, "cycle">;
/** A node's number in the trace; -1 for none. */
export type NodeIndex = Of<number, "node">;
/** A pod's number in the trace; -1 for none. */
export type PodIndex = Of<number, "pod">;
