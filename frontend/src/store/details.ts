// Cycle details fetched on demand, the most recent kept; stepping finds its neighbours ready.

import type { CycleDetail } from "./verdicts.ts";

export type DetailState =
  | { readonly kind: "none" }
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly detail: CycleDetail }
  | { readonly kind: "failed"; readonly message: string };

const KEPT = 96;
/** Requests closer together than this wait for the last: who scrubs looks at nothing yet. */
const SETTLE_MS = 60;

/** Fetches the bytes of a cycle's detail. */
export type FetchDetail = (cycle: number, signal: AbortSignal) => Promise<Uint8Array>;

export class Details {
  private readonly kept = new Map<number, CycleDetail>();
  private readonly failed = new Map<number, string>();
  private readonly underWay = new Map<number, AbortController>();
  private settling: { cycle: number; timer: ReturnType<typeof setTimeout> } | null = null;
  private lastWanted = -Infinity;

  constructor(
    private readonly fetch: FetchDetail,
    private readonly decode: (cycle: number, bytes: Uint8Array) => CycleDetail,
    private readonly changed: (cycle: number) => void,
  ) {}

  state(cycle: number): DetailState {
    const detail = this.kept.get(cycle);
    if (detail) return { kind: "ready", detail };
    const message = this.failed.get(cycle);
    if (message !== undefined) return { kind: "failed", message };
    const comes = this.underWay.has(cycle) || this.settling?.cycle === cycle;
    return comes ? { kind: "loading" } : { kind: "none" };
  }

  /** Want this cycle now; give up on others that are under way unless `keep` wants them. */
  want(cycle: number, keep: (cycle: number) => boolean): void {
    for (const [other, controller] of this.underWay) {
      if (other !== cycle && !keep(other)) {
        controller.abort();
        this.underWay.delete(other);
      }
    }
    if (this.settling) clearTimeout(this.settling.timer);
    this.settling = null;
    const now = performance.now();
    const hurried = now - this.lastWanted < SETTLE_MS;
    this.lastWanted = now;
    if (!hurried || this.kept.has(cycle)) this.load(cycle);
    else this.settling = { cycle, timer: setTimeout(() => this.settle(cycle), SETTLE_MS) };
  }

  private settle(cycle: number): void {
    this.settling = null;
    this.load(cycle);
  }

  /** Fetch a cycle unless it is here or on its way. */
  load(cycle: number): void {
    const kept = this.kept.get(cycle);
    if (kept) {
      this.kept.delete(cycle);
      this.kept.set(cycle, kept);
      return;
    }
    if (this.underWay.has(cycle)) return;
    const controller = new AbortController();
    this.underWay.set(cycle, controller);
    this.failed.delete(cycle);
    void this.run(cycle, controller);
  }

  retry(cycle: number): void {
    this.failed.delete(cycle);
    this.load(cycle);
  }

  private async run(cycle: number, controller: AbortController): Promise<void> {
    try {
      const bytes = await this.fetch(cycle, controller.signal);
      this.keep(cycle, this.decode(cycle, bytes));
    } catch (error) {
      if (controller.signal.aborted) return;
      this.failed.set(cycle, error instanceof Error ? error.message : String(error));
    }
    if (this.underWay.get(cycle) === controller) this.underWay.delete(cycle);
    this.changed(cycle);
  }

  private keep(cycle: number, detail: CycleDetail): void {
    this.kept.set(cycle, detail);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(oldest);
    }
  }
}
