// What a scheduling cycle is to the Explorer: its extension points, what became of each, and the
// events that tell it.

import type { Seq } from "../base/units.ts";
import type {
  CycleFinished,
  CycleStarted,
  ExtenderCalled,
  FilterFinished,
  NodeSelected,
  PostFilterFinished,
  PreFilterFinished,
  PreScoreFinished,
  PreemptionDecided,
  PreemptionIneligible,
  PreemptionStarted,
  StatusRecord,
} from "../wire/events.ts";

export const POINTS = [
  "QueueSort",
  "PreFilter",
  "Filter",
  "PostFilter",
  "PreScore",
  "Score",
  "Reserve",
  "Permit",
  "PreBind",
  "Bind",
  "PostBind",
] as const;
export type Point = (typeof POINTS)[number];
/** These run in the binding cycle, while the next pods are being scheduled. */
export const BINDING_CYCLE: ReadonlySet<Point> = new Set<Point>(["PreBind", "Bind", "PostBind"]);

/**
 * `passed` the point let the pod go on; `failed` it ended the cycle; `waiting` Permit holds it;
 * `unreached` the cycle ended before; `skipped` it had nothing to do; `unknown` what a scheduler that is
 * observed does not report.
 */
export type Outcome = "passed" | "failed" | "waiting" | "unreached" | "skipped" | "unknown";

export interface PluginStep {
  readonly plugin: number;
  /** `waiting`: it holds the pod on Permit. `unevaluated`: an earlier plugin had already decided. */
  readonly outcome: "passed" | "failed" | "waiting" | "skipped" | "unevaluated";
  /** Filter: nodes this plugin was the first to reject. */
  readonly rejected: number;
  /** Score: its weight; 0 elsewhere. */
  readonly weight: number;
}

export interface PointStep {
  readonly point: Point;
  readonly outcome: Outcome;
  readonly plugins: readonly PluginStep[];
  /** Nodes going in and coming out (-1: unknown); null where the point is not about nodes. */
  readonly flow: { readonly into: number; readonly out: number } | null;
  readonly status: StatusRecord | null;
  /** Calls to scheduler extenders at this point, as places in `CycleRecord.extenders`. */
  readonly calls: readonly number[];
  /** Whether the cycle came here at all. */
  readonly ran: boolean;
  /** How many events of the run have happened when the point is done. */
  readonly moment: number;
}

export interface CycleRecord {
  readonly number: number;
  /** A real scheduler had this cycle; what it did not report is `unknown`. */
  readonly observed: boolean;
  readonly started: CycleStarted;
  /** What the cycle came to in the end, and what when it ended: Permit may decide later. */
  readonly finished: CycleFinished | null;
  readonly ended: CycleFinished | null;
  readonly preFilter: PreFilterFinished | null;
  readonly filter: FilterFinished | null;
  readonly preScore: PreScoreFinished | null;
  readonly selected: NodeSelected | null;
  readonly postFilter: PostFilterFinished | null;
  /** In order; `ExtenderColumns.call` counts through them. */
  readonly extenders: readonly ExtenderCalled[];
  readonly preemption: {
    readonly started: PreemptionStarted | null;
    readonly decided: PreemptionDecided | null;
    readonly ineligible: PreemptionIneligible | null;
  };
  readonly points: readonly PointStep[];
  /** Events between the cycle before and this one, and then those of this one. */
  readonly leadIn: readonly Seq[];
  readonly seqs: readonly Seq[];
}

export type Draft = Omit<CycleRecord, "points">;

export type Step = Omit<PointStep, "point" | "moment" | "ran" | "calls"> & { seq: Seq };
