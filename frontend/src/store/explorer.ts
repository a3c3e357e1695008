// The store: a run, where in it one stands, what is selected, and how it is shown. Views read it, and call the
// methods of its parts; nothing here knows about the DOM.

import type { Cycle, Seq } from "../base/units.ts";
import { isLive, type Link, type Source, type StatusFrame } from "../wire/source.ts";
import { UNFINISHED } from "./chronicle.ts";
import { Bookmarks } from "./bookmarks.svelte.ts";
import { Details, type FetchDetail } from "./details.svelte.ts";
import { Display, PLAIN_MAP } from "./display.svelte.ts";
import { TABS, type Address, type Tab } from "./link.ts";
import { Live } from "./live.svelte.ts";
import { Navigation, type Remember } from "./navigation.svelte.ts";
import { granularityOf, START, wholeCycle, type Position } from "./position.ts";
import { Recording } from "./recording.svelte.ts";
import { Selection } from "./selection.svelte.ts";
import { Surveys } from "./surveys.svelte.ts";

export class Explorer extends Recording {
  readonly navigation: Navigation;
  readonly selection: Selection;
  readonly details: Details;
  readonly display: Display;
  readonly bookmarks: Bookmarks;
  readonly live = new Live();
  /** The release that the run follows, with what it was chosen by; "" where the page does not know. */
  released = "";
  /** Devices as of each cycle; null where there are none, or no server. */
  readonly surveys: Surveys | null;
  /** Hears of each committed change of place or selection, for the address bar. */
  onNavigate: (remember: Remember) => void = () => undefined;
  /** An address that is not reached yet, because that part of the trace is not here. */
  private wanted: Address | null = null;

  /**
   * `fetchAlso` returns what the other plugins would have said of a cycle's nodes, `fetchStates` what
   * plugins prepared in it; both null where there is no server. `fetchDevices` returns what became of each
   * device, null also where there are none. `ask` asks the server about the run.
   */
  constructor(
    run: string,
    fetchDetail: FetchDetail,
    storage: Storage | null = null,
    readonly fetchAlso: Source["also"] = null,
    readonly fetchStates: Source["states"] = null,
    fetchDevices: Source["devices"] = null,
    readonly ask: Source["ask"] = null,
  ) {
    super();
    const commit = (remember: Remember): void => {
      this.wanted = null;
      this.live.wanted = 0;
      this.onNavigate(remember);
    };
    this.bookmarks = new Bookmarks(run, storage);
    this.details = new Details(this, fetchDetail);
    this.navigation = new Navigation(this, (moved) => this.details.follow(moved), commit);
    this.selection = new Selection(this.navigation, commit);
    this.surveys = fetchDevices && new Surveys(fetchDevices);
    this.display = new Display((remember) => this.onNavigate(remember));
  }

  // ---------------------------------------------------------------- what arrives

  /** Start at an address; a run that is being recorded is followed unless it names a cycle. */
  begin(address: Address, runIsOver: boolean): void {
    this.open(address);
    if (!runIsOver && address.cycle === null) this.navigation.following = true;
  }

  /** Take a chunk of headers; returns the last seq that is now here. */
  receive(headers: Uint8Array): Seq {
    const { navigation } = this;
    const isFirst = navigation.nCycles === 0 && this.wanted?.cycle == null;
    const open = this.nCycles;
    const isOpen = this.fold.chronicle.result.at(open) === UNFINISHED;
    const last = this.append(headers);
    if (isOpen) this.details.forget(open);
    navigation.show(this.wantedPosition() ?? this.positionOnArrival(isFirst));
    if (isFirst && navigation.nCycles && !navigation.following) this.onNavigate("replace");
    return last;
  }

  /** Where new cycles take those who did not ask for a place: along, or to the first. */
  private positionOnArrival(isFirst: boolean): Position {
    const { following, nCycles, position } = this.navigation;
    if (following) return wholeCycle(nCycles);
    return isFirst && nCycles ? wholeCycle(1) : position;
  }

  // ---------------------------------------------------------------- both at once

  /** The next cycle (or previous) that says something about the selected pod, which stays selected. */
  toEventOfPod(direction: 1 | -1): boolean {
    const { pod } = this.selection;
    const found = this.navigation.toEventOf(pod, direction);
    if (found) this.selection.select({ pod }, "replace");
    return found;
  }

  /** Set the bookmark of the cycle shown, or take it away. */
  bookmark(note: string | null): void {
    const { position } = this.navigation;
    if (note === null) this.bookmarks.remove(position.cycle);
    else this.bookmarks.put(position, note);
  }

  /** Try other changes, written as the address has them; none: close the Lab. */
  setChanges(changes: string, remember: Remember = "push"): void {
    this.changes = changes;
    this.onNavigate(remember);
  }

  /** The tabs of the Inspector that this run has something for. */
  get tabs(): readonly Tab[] {
    return TABS.filter((tab) => (tab !== "devices" || this.surveys) && (tab !== "model" || this.ask));
  }

  // ---------------------------------------------------------------- the address

  get address(): Address {
    const { position, following } = this.navigation;
    const { podIsPinned, pod, node, other, tab } = this.selection;
    const { map } = this.display;
    return {
      cycle: following ? null : position.cycle,
      point: position.point,
      plugin: position.plugin === null ? "" : this.pluginName(position.plugin),
      pod: podIsPinned ? this.podKey(pod) : "",
      node: node < 0 ? "" : this.nodeName(node),
      other: other < 0 ? "" : this.nodeName(other),
      tab,
      group: map.group === PLAIN_MAP.group ? "" : map.group,
      colour: map.colour === PLAIN_MAP.colour ? "" : map.colour,
      changes: this.changes,
    };
  }

  /** The cycle that an address leads to and that is still to come, of those that were recorded; 0 for none. */
  get awaited(): Cycle {
    const { status, link, wanted: cycle } = this.live;
    return cycle > this.nCycles && link !== "ended" && (!status || cycle <= status.cycles) ? cycle : 0;
  }

  /** Hear how the line to the run stands, and how far the run is: what is awaited may never come. */
  hear(news: { readonly link?: Link; readonly status?: StatusFrame }): void {
    if (news.link) this.live.link = news.link;
    if (news.status) this.live.status = news.status;
    if (this.wanted?.cycle && this.fold.trace.length) {
      this.navigation.show(this.wantedPosition() ?? this.navigation.position);
    }
  }

  /** Go back to an address that was shown before; one without a cycle followed the run. */
  reopen(address: Address): void {
    this.open(address);
    if (address.cycle === null && isLive(this.live.status?.status ?? "")) this.navigation.follow();
  }

  /** Go where an address says, as soon as that part of the trace is here. */
  open(address: Address): void {
    this.wanted = address;
    this.live.wanted = address.cycle ?? 0;
    this.changes = this.fold.observed ? "" : address.changes;
    this.selection.set({ tab: this.tabs.includes(address.tab) ? address.tab : "why" });
    const { group, colour } = PLAIN_MAP;
    this.display.map = { ...this.display.map, group: address.group || group, colour: address.colour || colour };
    this.navigation.show(this.wantedPosition() ?? this.navigation.position);
  }

  /** Select what the wanted address names, as far as it is here; returns its position if that is, too. */
  private wantedPosition(): Position | null {
    const { wanted, navigation } = this;
    if (!wanted || !this.fold.trace.length) return null;
    const pod = wanted.pod ? this.podNumber(wanted.pod) : -1;
    const node = wanted.node ? this.nodeNumber(wanted.node) : -1;
    const other = wanted.other ? this.nodeNumber(wanted.other) : -1;
    this.selection.set({ pod: pod < 0 ? null : pod, node, other });
    const { cycle } = wanted;
    if (cycle !== null && cycle > navigation.nCycles) return this.awaited ? START : wholeCycle(navigation.nCycles);
    const missing = (wanted.pod !== "" && pod < 0) || (wanted.node !== "" && node < 0);
    this.wanted = missing ? { ...wanted, cycle: null } : null;
    if (cycle === null) return null;
    const plugin = wanted.plugin ? this.pluginNumber(wanted.plugin) : -1;
    const position = { cycle, point: wanted.point, plugin: plugin < 0 ? null : plugin };
    navigation.by = granularityOf(position);
    navigation.following = false;
    return position;
  }
}
