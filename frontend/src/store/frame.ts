// What the views read: where one stands in the run, what is selected, and how it is shown.

import type { Link, StatusFrame } from "../wire/source.ts";
import type { DetailState } from "./details.ts";
import type { Tab } from "./link.ts";
import type { Granularity, Position } from "./position.ts";
import type { CycleRecord } from "./record.ts";

export const NODE_COLUMNS = ["node", "zone", "verdict", "reason", "cpu", "memory", "pods", "score"] as const;
export type NodeColumn = (typeof NODE_COLUMNS)[number];

export interface TableOptions {
  /** Order of the table of nodes; an empty `by` is the order in which they came. */
  readonly nodesBy: NodeColumn | "";
  readonly nodesUp: boolean;
  readonly filterShows: "all" | "fits" | "rejected";
  /** Nodes that got furthest first. */
  readonly filterByReason: boolean;
}

export const PLAIN_TABLES: TableOptions = {
  nodesBy: "",
  nodesUp: true,
  filterShows: "all",
  filterByReason: false,
};

/** Views that can be drawn apart from the screen. */
export type PictureName = "map" | "timeline";

export interface MapOptions {
  /** `zone`, `pool`, `taint`, `none`, or `label:KEY`. */
  readonly group: string;
  /** `auto`, `verdict`, `score`, or a resource name. */
  readonly colour: string;
  /** Only nodes with this verdict stay lit; -1 for all. */
  readonly isolate: number;
  readonly query: string;
  readonly asTable: boolean;
}

export interface Live {
  readonly link: Link;
  readonly status: StatusFrame | null;
  readonly error: string;
}

export interface Frame {
  readonly revision: number;
  readonly nCycles: number;
  readonly position: Position;
  readonly by: Granularity;
  readonly record: CycleRecord | null;
  readonly detail: DetailState;
  /** The pod one asked for, or else the cycle's. */
  readonly pod: number;
  readonly podIsPinned: boolean;
  readonly node: number;
  readonly tab: Tab;
  readonly map: MapOptions;
  readonly tables: TableOptions;
  readonly live: Live;
  /** Whether the position moves along with a run that is being recorded. */
  readonly following: boolean;
  readonly playing: boolean;
  readonly speed: number;
  /** Whether what changed may be shown moving: one step at a time, and not in a hurry. */
  readonly moves: boolean;
}

export interface Hover {
  readonly node: number;
  readonly pod: number;
}

export const SPEEDS = [0.5, 1, 2, 4, 10, 30] as const;
export const NO_HOVER: Hover = { node: -1, pod: -1 };
