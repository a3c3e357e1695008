// Cycle details fetched on demand, the most recent cached; stepping finds its neighbours ready, and who follows a
// run is sent the newest without asking.

import type { Cycle } from "../base/units.ts";
import type { Moved } from "./navigation.svelte.ts";
import { samePosition } from "./position.ts";
import type { Recording } from "./recording.svelte.ts";
import type { CycleDetail } from "./verdicts.ts";

export type DetailState =
  | { readonly kind: "none" }
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly detail: CycleDetail }
  | { readonly kind: "failed"; readonly message: string };

const NONE: DetailState = { kind: "none" };
const LOADING: DetailState = { kind: "loading" };

const MOST_CACHED = 96;
/** Requests closer together than this wait for the last: who scrubs looks at nothing yet. */
const SETTLE_MS = 60;
/** Requests under way for cycles at most this far are not given up. */
const NEAR = 2;

/** Fetches the bytes of a cycle's detail. */
export type FetchDetail = (cycle: Cycle, signal: AbortSignal) => Promise<Uint8Array>;

export class Details {
  /** How it stands with the cycle shown. */
  shown = $state.raw(NONE);
  private cycle: Cycle = 0;
  private readonly cached = new Map<Cycle, DetailState & { kind: "ready" }>();
  private readonly failed = new Map<Cycle, DetailState>();
  private readonly underWay = new Map<Cycle, AbortController>();
  private settling: { cycle: Cycle; timer: ReturnType<typeof setTimeout> } | null = null;
  private lastWanted = -Infinity;

  constructor(
    private readonly recording: Recording,
    private readonly fetch: FetchDetail,
  ) {}

  /** The detail of the cycle shown, once it is here. */
  get ready(): CycleDetail | null {
    if (this.recording.tried) return this.recording.tried.detail;
    return this.recorded;
  }

  /** Likewise, whatever is tried. */
  get recorded(): CycleDetail | null {
    return this.shown.kind === "ready" ? this.shown.detail : null;
  }

  /** Fetch what a change of place makes wanted: its cycle, and those one would come to next. */
  follow({ from, to, looksAhead }: Moved): void {
    this.cycle = to.cycle;
    if (!samePosition(from, to) || this.stateOf(to.cycle) === NONE) this.fetchAround(from.cycle, to.cycle, looksAhead);
    this.shown = this.stateOf(to.cycle);
  }

  /** Take a detail that nobody asked for. */
  take(cycle: Cycle, bytes: Uint8Array): void {
    if (!this.isHere(cycle) || this.cached.has(cycle)) return;
    this.cache(cycle, this.recording.decodeDetail(cycle, bytes));
    if (cycle === this.cycle) this.shown = this.stateOf(cycle);
  }

  /** More of a cycle than before is known: its detail is another. */
  forget(cycle: Cycle): void {
    this.cached.delete(cycle);
  }

  /** Try again to fetch the cycle shown. */
  retry(): void {
    this.failed.delete(this.cycle);
    this.load(this.cycle);
    this.shown = this.stateOf(this.cycle);
  }

  private stateOf(cycle: Cycle): DetailState {
    const known = this.cached.get(cycle) ?? this.failed.get(cycle);
    if (known) return known;
    return this.underWay.has(cycle) || this.settling?.cycle === cycle ? LOADING : NONE;
  }

  private fetchAround(from: Cycle, to: Cycle, looksAhead: boolean): void {
    if (!this.isHere(to)) return;
    this.want(to);
    if (!looksAhead || Math.abs(to - from) > 1) return;
    const ahead = Math.sign(to - from) || 1;
    for (const near of [to + ahead, to + 2 * ahead]) if (this.isHere(near)) this.load(near);
  }

  /** Details are stored with the headers, so they can be had once the cycle's are here. */
  private isHere(cycle: Cycle): boolean {
    return cycle >= 1 && cycle <= this.recording.nCycles;
  }

  /** Want this cycle now; give up on others that are under way unless they are near. */
  private want(cycle: Cycle): void {
    for (const [other, controller] of this.underWay) {
      if (Math.abs(other - cycle) <= NEAR) continue;
      controller.abort();
      this.underWay.delete(other);
    }
    if (this.settling) clearTimeout(this.settling.timer);
    this.settling = null;
    const now = performance.now();
    const hurried = now - this.lastWanted < SETTLE_MS;
    this.lastWanted = now;
    if (!hurried || this.cached.has(cycle)) this.load(cycle);
    else this.settling = { cycle, timer: setTimeout(() => this.settle(cycle), SETTLE_MS) };
  }

  private settle(cycle: Cycle): void {
    this.settling = null;
    this.load(cycle);
  }

  /** Fetch a cycle unless it is here or on its way. */
  private load(cycle: Cycle): void {
    const cached = this.cached.get(cycle);
    if (cached) {
      this.cached.delete(cycle);
      this.cached.set(cycle, cached);
      return;
    }
    if (this.underWay.has(cycle)) return;
    const controller = new AbortController();
    this.underWay.set(cycle, controller);
    this.failed.delete(cycle);
    void this.run(cycle, controller);
  }

  private async run(cycle: Cycle, controller: AbortController): Promise<void> {
    try {
      const bytes = await this.fetch(cycle, controller.signal);
      this.cache(cycle, this.recording.decodeDetail(cycle, bytes));
    } catch (error) {
      if (controller.signal.aborted) return;
      this.failed.set(cycle, { kind: "failed", message: error instanceof Error ? error.message : String(error) });
    }
    if (this.underWay.get(cycle) === controller) this.underWay.delete(cycle);
    if (cycle === this.cycle) this.shown = this.stateOf(cycle);
  }

  private cache(cycle: Cycle, detail: CycleDetail): void {
    this.cached.set(cycle, { kind: "ready", detail });
    for (const oldest of this.cached.keys()) {
      if (this.cached.size <= MOST_CACHED) break;
      this.cached.delete(oldest);
    }
  }
}
