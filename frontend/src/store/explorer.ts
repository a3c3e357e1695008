// The store: the trace, where in it one stands, and what is selected. Views read `frame`, which is
// a new object after every change, and call the methods; nothing here knows about the DOM.

import type { Picture } from "../base/pen.ts";
import type { Link, Source, StatusFrame } from "../wire/source.ts";
import { Result } from "../wire/events.ts";
import { Bookmarks } from "./bookmarks.ts";
import { cycleRecord } from "./cycle.ts";
import { Details, type DetailState, type FetchDetail } from "./details.ts";
import { Fold } from "./fold.ts";
import {
  NO_HOVER,
  PLAIN_TABLES,
  type Frame,
  type Hover,
  type MapOptions,
  type PictureName,
  type TableOptions,
} from "./frame.ts";
import type { Address, Tab } from "./link.ts";
import { granularityOf, neighbour, refine, samePosition, START, type Granularity, type Position } from "./position.ts";
import type { CycleRecord } from "./record.ts";
import { State } from "./state.ts";
import { cycleDetail, type CycleDetail } from "./verdicts.ts";

/** Up to this speed, motion helps. */
const CALM = 4;
const RECORDS_KEPT = 300;

type Remember = "push" | "replace";

export class Explorer {
  readonly fold = new Fold();
  readonly state = new State(this.fold);
  readonly bookmarks: Bookmarks;
  /** Views that can be drawn apart from the screen, for as long as they are shown. */
  readonly pictures = new Map<PictureName, () => Promise<Picture>>();
  frame: Frame;
  hover: Hover = NO_HOVER;
  /** Told of each committed change of place or selection, for the address bar. */
  onNavigate: (remember: Remember) => void = () => undefined;
  private readonly details: Details;
  private readonly listeners = new Set<(frame: Frame) => void>();
  private readonly hoverListeners = new Set<(hover: Hover) => void>();
  private readonly records = new Map<number, CycleRecord>();
  private readonly podNumbers = new Map<string, number>();
  private podNumbersUpTo = 0;
  private wanted: Address | null = null;

  /**
   * `fetchAlso` returns what the other plugins would have said of a cycle's nodes, `fetchStates` what
   * plugins prepared in it; both null where there is no server.
   */
  constructor(
    run: string,
    fetchDetail: FetchDetail,
    storage: Storage | null = null,
    readonly fetchAlso: Source["also"] = null,
    readonly fetchStates: Source["states"] = null,
  ) {
    this.bookmarks = new Bookmarks(run, storage);
    this.details = new Details(
      fetchDetail,
      (cycle, bytes) => this.decodeDetail(cycle, bytes),
      (cycle) => cycle === this.frame.position.cycle && this.update({}),
    );
    this.frame = {
      revision: 0,
      nCycles: 0,
      position: START,
      by: "cycle",
      record: null,
      detail: { kind: "none" },
      pod: -1,
      podIsPinned: false,
      node: -1,
      tab: "why",
      map: { group: "zone", colour: "auto", isolate: -1, query: "", asTable: false },
      tables: PLAIN_TABLES,
      live: { link: "connecting", status: null, error: "" },
      following: false,
      playing: false,
      speed: 1,
      moves: false,
    };
  }

  subscribe(listener: (frame: Frame) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  subscribeHover(listener: (hover: Hover) => void): () => void {
    this.hoverListeners.add(listener);
    return () => this.hoverListeners.delete(listener);
  }

  /** Say how to draw a view; returns how to take it back. */
  offerPicture(name: PictureName, make: () => Promise<Picture>): () => void {
    this.pictures.set(name, make);
    return () => {
      if (this.pictures.get(name) === make) this.pictures.delete(name);
    };
  }

  // ---------------------------------------------------------------- what arrives

  /** Start at an address; a run that is being recorded is followed unless it names a cycle. */
  begin(address: Address, runIsOver: boolean): void {
    this.open(address);
    if (!runIsOver && address.cycle === null) this.update({ following: true });
  }

  /** Take a chunk of headers; returns the last seq that is now here. */
  receive(headers: Uint8Array): number {
    const known = this.fold.chronicle.nCycles;
    this.fold.append(headers);
    this.records.delete(known);
    this.update({ ...this.arrival(known), ...this.resolveWanted() });
    return this.fold.trace.length - 1;
  }

  /** Where new cycles take those who did not ask for a place: along, or to the first. */
  private arrival(known: number): Partial<Frame> {
    const { nCycles } = this.fold.chronicle;
    const first = known === 0 && nCycles > 0 && this.wanted?.cycle == null;
    if (!this.frame.following && !first) return {};
    return { position: { cycle: this.frame.following ? nCycles : 1, point: null, plugin: null } };
  }

  setStatus(status: StatusFrame): void {
    this.update({ live: { ...this.frame.live, status } });
  }

  setLink(link: Link): void {
    this.update({ live: { ...this.frame.live, link } });
  }

  setError(error: string): void {
    this.update({ live: { ...this.frame.live, error } });
  }

  // ---------------------------------------------------------------- moving

  go(position: Position, remember: Remember = "push"): void {
    const cycle = Math.max(0, Math.min(position.cycle, this.fold.chronicle.nCycles));
    const by = position.point === null ? this.frame.by : granularityOf(position);
    this.wanted = null;
    this.update({ position: { ...position, cycle }, by, following: false });
    this.onNavigate(remember);
  }

  goToCycle(cycle: number, remember: Remember = "push"): void {
    this.go({ cycle, point: null, plugin: null }, remember);
  }

  /** Follow a pointer that drags along the run: neighbours are not fetched, nobody stays to see them. */
  scrub(cycle: number): void {
    const { position } = this.frame;
    if (cycle === position.cycle && position.point === null) return;
    this.wanted = null;
    this.update({ position: { cycle, point: null, plugin: null }, following: false }, false);
    this.onNavigate("replace");
  }

  /** One step at the granularity; false at the end. */
  step(direction: 1 | -1, remember: Remember = "replace"): boolean {
    const { position, by } = this.frame;
    const { nCycles } = this.fold.chronicle;
    const next = neighbour(position, by, direction, nCycles, (cycle) => this.record(cycle));
    if (!next) return false;
    this.wanted = null;
    this.update({ position: next, following: false });
    this.onNavigate(remember);
    return true;
  }

  jump(cycles: number): void {
    this.goToCycle(this.frame.position.cycle + cycles, "replace");
  }

  setGranularity(by: Granularity): void {
    const position = refine(this.frame.position, this.record(this.frame.position.cycle), by);
    this.update({ by, position });
    this.onNavigate("replace");
  }

  follow(): void {
    const { nCycles } = this.fold.chronicle;
    this.update({ following: true, position: { cycle: nCycles, point: null, plugin: null } });
    this.onNavigate("replace");
  }

  /** The next cycle (or previous) in which a pod was not placed; false if there is none. */
  toFailure(direction: 1 | -1): boolean {
    const { result, nCycles } = this.fold.chronicle;
    let cycle = this.frame.position.cycle + direction;
    for (; cycle >= 1 && cycle <= nCycles; cycle += direction) {
      const how = result.at(cycle);
      if (how === Result.UNSCHEDULABLE || how === Result.ERROR || how === Result.BIND_ERROR) {
        this.goToCycle(cycle);
        return true;
      }
    }
    return false;
  }

  /** The next cycle (or previous) that tells something about the selected pod. */
  toEventOfPod(direction: 1 | -1): boolean {
    const { chronicle } = this.fold;
    const here = this.frame.position.cycle;
    let found = -1;
    for (const seq of chronicle.eventsOfPod(this.frame.pod)) {
      const cycle = this.cycleShowing(seq);
      if (direction === 1 && cycle <= here) break;
      if (direction === -1 && cycle >= here) continue;
      found = cycle;
      if (direction === -1) break;
    }
    if (found < 0) return false;
    const pod = this.frame.pod;
    this.goToCycle(found);
    this.select({ pod });
    return true;
  }

  /** The cycle at which one sees an event: what happens between two shows at the later. */
  cycleShowing(seq: number): number {
    const { chronicle } = this.fold;
    const cycle = chronicle.cycleAt(seq);
    const late = seq >= chronicle.endMoment.at(cycle) && cycle < chronicle.nCycles;
    return late ? cycle + 1 : cycle;
  }

  // ---------------------------------------------------------------- selecting

  select(selection: { pod?: number | null; node?: number; tab?: Tab }, remember: Remember = "push"): void {
    const pinned = selection.pod === undefined ? this.frame.podIsPinned : selection.pod !== null;
    const pod = selection.pod ?? (pinned ? this.frame.pod : -1);
    this.wanted = null;
    this.update({
      podIsPinned: pinned,
      pod,
      node: selection.node ?? this.frame.node,
      tab: selection.tab ?? this.frame.tab,
    });
    this.onNavigate(remember);
  }

  setHover(hover: Hover): void {
    if (hover.node === this.hover.node && hover.pod === this.hover.pod) return;
    this.hover = hover;
    for (const listener of this.hoverListeners) listener(hover);
  }

  setMap(map: Partial<MapOptions>): void {
    this.update({ map: { ...this.frame.map, ...map } });
    if (map.group !== undefined || map.colour !== undefined) this.onNavigate("replace");
  }

  setTables(tables: Partial<TableOptions>): void {
    this.update({ tables: { ...this.frame.tables, ...tables } });
  }

  setPlaying(playing: boolean): void {
    this.update({ playing });
  }

  setSpeed(speed: number): void {
    this.update({ speed });
  }

  bookmark(note: string | null): void {
    const { position } = this.frame;
    if (note === null) this.bookmarks.remove(position.cycle);
    else this.bookmarks.put(position, note);
    this.update({});
  }

  retryDetail(): void {
    this.details.retry(this.frame.position.cycle);
    this.update({});
  }

  // ---------------------------------------------------------------- names

  pluginName(plugin: number): string {
    return this.fold.run?.plugins[plugin] ?? "";
  }

  pluginNumber(name: string): number {
    return this.fold.run?.plugins.indexOf(name) ?? -1;
  }

  /** The latest name under which a pod or node was known; it may be gone by now. */
  podKey(pod: number): string {
    return this.state.podFacts(pod)?.key ?? this.fold.podNames[pod] ?? "";
  }

  nodeName(node: number): string {
    return this.state.nodeFacts(node)?.name ?? this.fold.nodeNames[node] ?? "";
  }

  podNumber(key: string): number {
    const names = this.fold.podNames;
    for (; this.podNumbersUpTo < names.length; this.podNumbersUpTo++) {
      const name = names[this.podNumbersUpTo];
      if (name) this.podNumbers.set(name, this.podNumbersUpTo);
    }
    return this.podNumbers.get(key) ?? -1;
  }

  nodeNumber(name: string): number {
    return this.fold.nodeNames.indexOf(name);
  }

  record(cycle: number): CycleRecord | null {
    const { chronicle } = this.fold;
    if (cycle < 1 || cycle > chronicle.nCycles) return null;
    const known = this.records.get(cycle);
    if (known) return known;
    const record = cycleRecord(this.fold, cycle);
    if (cycle < chronicle.nCycles) this.records.set(cycle, record);
    if (this.records.size > RECORDS_KEPT) this.records.delete(this.records.keys().next().value!);
    return record;
  }

  // ---------------------------------------------------------------- the address

  get address(): Address {
    const { position, podIsPinned, pod, node, tab, map, following } = this.frame;
    return {
      cycle: following ? null : position.cycle,
      point: position.point,
      plugin: position.plugin === null ? "" : this.pluginName(position.plugin),
      pod: podIsPinned ? this.podKey(pod) : "",
      node: node < 0 ? "" : this.nodeName(node),
      tab,
      group: map.group === "zone" ? "" : map.group,
      colour: map.colour === "auto" ? "" : map.colour,
    };
  }

  /** Go where an address says, as soon as that part of the trace is here. */
  open(address: Address): void {
    this.wanted = address;
    const { tab } = address;
    const map = {
      ...this.frame.map,
      group: address.group || "zone",
      colour: address.colour || "auto",
    };
    this.update({ tab, map, ...this.resolveWanted() });
  }

  private resolveWanted(): Partial<Frame> | null {
    const wanted = this.wanted;
    if (!wanted || !this.fold.trace.length) return null;
    const pod = wanted.pod ? this.podNumber(wanted.pod) : -1;
    const node = wanted.node ? this.nodeNumber(wanted.node) : -1;
    const selection = { pod, podIsPinned: pod >= 0, node };
    const { nCycles } = this.fold.chronicle;
    const missing = (wanted.pod !== "" && pod < 0) || (wanted.node !== "" && node < 0);
    const cycle = wanted.cycle;
    if (cycle !== null && cycle > nCycles) {
      return { ...selection, position: { cycle: nCycles, point: null, plugin: null } };
    }
    this.wanted = missing ? { ...wanted, cycle: null } : null;
    if (cycle === null) return selection;
    const plugin = wanted.plugin ? this.pluginNumber(wanted.plugin) : -1;
    const position = { cycle, point: wanted.point, plugin: plugin < 0 ? null : plugin };
    return { ...selection, position, by: granularityOf(position), following: false };
  }

  // ---------------------------------------------------------------- frames

  private update(change: Partial<Frame>, looksAhead = true): void {
    const before = this.frame;
    const next = { ...before, ...change, nCycles: this.fold.chronicle.nCycles };
    const record = this.record(next.position.cycle);
    this.state.seek(this.momentOf(next.position, record));
    const pod = next.podIsPinned ? next.pod : (record?.started.pod ?? -1);
    if (!samePosition(before.position, next.position)) this.fetchAround(before.position, next.position, looksAhead);
    else if (record && this.details.state(record.number).kind === "none")
      this.fetchAround(next.position, next.position, looksAhead);
    const detail: DetailState = record ? this.details.state(record.number) : { kind: "none" };
    const moves = Math.abs(next.position.cycle - before.position.cycle) <= 1 && !(next.playing && next.speed > CALM);
    this.frame = { ...next, record, pod, detail, moves, revision: before.revision + 1 };
    for (const listener of this.listeners) listener(this.frame);
  }

  private momentOf(position: Position, record: CycleRecord | null): number {
    const step = record?.points.find((p) => p.point === position.point);
    return step ? step.moment : this.fold.chronicle.endMoment.at(position.cycle);
  }

  private fetchAround(from: Position, to: Position, looksAhead: boolean): void {
    const { cycle } = to;
    if (cycle < 1 || !this.isDetailComplete(cycle)) return;
    this.details.want(cycle, (other) => Math.abs(other - cycle) <= 2);
    if (!looksAhead || Math.abs(to.cycle - from.cycle) > 1) return;
    const ahead = Math.sign(to.cycle - from.cycle) || 1;
    for (const near of [cycle + ahead, cycle + 2 * ahead]) {
      if (near >= 1 && this.isDetailComplete(near)) this.details.load(near);
    }
  }

  /** Details are stored with the headers, so they are there once the cycle's end is here. */
  private isDetailComplete(cycle: number): boolean {
    return cycle <= this.fold.chronicle.nCycles;
  }

  private decodeDetail(cycle: number, bytes: Uint8Array): CycleDetail {
    const record = this.record(cycle)!;
    return cycleDetail(bytes, record, this.nodeOrderAt(cycle));
  }

  private nodeOrderAt(cycle: number): readonly number[] {
    const seq = this.fold.orderAt(this.fold.chronicle.startSeq.at(cycle));
    return seq < 0 ? [] : this.fold.trace.eventOf(seq, "NodeOrderChanged").nodes;
  }
}
