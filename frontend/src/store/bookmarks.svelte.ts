// Bookmarks of a run: places with a note, kept in this browser.

import type { Cycle } from "../base/units.ts";
import type { Point } from "./record.ts";
import type { Position } from "./position.ts";

export interface Bookmark {
  readonly position: Position;
  readonly note: string;
}

export class Bookmarks {
  list = $state.raw<readonly Bookmark[]>([]);
  private readonly key: string;

  constructor(
    run: string,
    private readonly storage: Pick<Storage, "getItem" | "setItem"> | null,
  ) {
    this.key = `kviz.bookmarks.${run}`;
    this.list = this.read();
  }

  at(position: Position): Bookmark | undefined {
    return this.list.find((mark) => mark.position.cycle === position.cycle);
  }

  /** Set or change the bookmark of a cycle. */
  put(position: Position, note: string): void {
    const others = this.list.filter((mark) => mark.position.cycle !== position.cycle);
    const list = [...others, { position, note }];
    this.write(list.sort((a, b) => a.position.cycle - b.position.cycle));
  }

  remove(cycle: Cycle): void {
    this.write(this.list.filter((mark) => mark.position.cycle !== cycle));
  }

  private write(list: readonly Bookmark[]): void {
    this.list = list;
    this.storage?.setItem(this.key, JSON.stringify(list));
  }

  private read(): Bookmark[] {
    try {
      const stored = JSON.parse(this.storage?.getItem(this.key) ?? "[]") as unknown;
      return Array.isArray(stored) ? stored.flatMap(asBookmark) : [];
    } catch {
      return [];
    }
  }
}

function asBookmark(value: unknown): Bookmark[] {
  const mark = value as { position?: { cycle?: unknown; point?: unknown; plugin?: unknown }; note?: unknown };
  if (typeof mark?.position?.cycle !== "number") return [];
  const point = typeof mark.position.point === "string" ? (mark.position.point as Point) : null;
  const plugin = typeof mark.position.plugin === "number" ? mark.position.plugin : null;
  const note = typeof mark.note === "string" ? mark.note : "";
  return [{ position: { cycle: mark.position.cycle, point, plugin }, note }];
}
