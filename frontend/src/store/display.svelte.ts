// How things are shown: the map, the tables, and what can be drawn apart from the screen.

import type { Picture } from "../base/pen.ts";
import type { Remember } from "./navigation.svelte.ts";

export const NODE_COLUMNS = ["node", "zone", "verdict", "reason", "cpu", "memory", "pods", "score"] as const;
export type NodeColumn = (typeof NODE_COLUMNS)[number];

export interface MapOptions {
  /** `zone`, `pool`, `taint`, `none`, or `label:KEY`. */
  readonly group: string;
  /** `auto`, `verdict`, `score`, `score-full`, `pods`, or a resource name. */
  readonly colour: string;
  /** Only nodes with this verdict stay lit; -1 for all. */
  readonly isolate: number;
  readonly query: string;
  readonly asTable: boolean;
}

export const PLAIN_MAP: MapOptions = { group: "zone", colour: "auto", isolate: -1, query: "", asTable: false };

export interface TableOptions {
  /** Order of the table of nodes; an empty `by` is the order in which they came. */
  readonly nodesBy: NodeColumn | "";
  readonly nodesUp: boolean;
  readonly filterShows: "all" | "fits" | "rejected";
  /** Nodes that got furthest first. */
  readonly filterByReason: boolean;
}

export const PLAIN_TABLES: TableOptions = { nodesBy: "", nodesUp: true, filterShows: "all", filterByReason: false };

/** Views that can be drawn apart from the screen. */
export type PictureName = "map" | "timeline";

/** What things were called in earlier releases; empty where they had no other name. */
export interface Classic {
  /** What did a plugin's work at a point. */
  plugin(name: string, point: string): string;
  /** What the table has for a term of the glossary. */
  term(id: string): string;
  /** The functions that did a point's work, and those that do it today. */
  functions(point: string): string;
  /** What messages said where a plugin rejects. */
  message(plugin: string): string;
}

export class Display {
  /** Yesterday's names, while they are shown. */
  classic = $state.raw<Classic | null>(null);
  map = $state.raw(PLAIN_MAP);
  /** Whether the wheel zooms the map without Ctrl; otherwise it scrolls. */
  wheelZooms = $state(true);
  tables = $state.raw(PLAIN_TABLES);
  /** How to draw those that are shown. */
  readonly pictures = new Map<PictureName, () => Promise<Picture>>();

  /** `onCommit` hears of what the address bar should show. */
  constructor(private readonly onCommit: (remember: Remember) => void) {}

  setMap(map: Partial<MapOptions>): void {
    this.map = { ...this.map, ...map };
    if (map.group !== undefined || map.colour !== undefined) this.onCommit("replace");
  }

  setTables(tables: Partial<TableOptions>): void {
    this.tables = { ...this.tables, ...tables };
  }

  /** Say how to draw a view; returns how to take it back. */
  offerPicture(name: PictureName, make: () => Promise<Picture>): () => void {
    this.pictures.set(name, make);
    return () => {
      if (this.pictures.get(name) === make) this.pictures.delete(name);
    };
  }
}
