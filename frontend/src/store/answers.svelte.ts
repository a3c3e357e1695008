// Answers of the server to what somebody looks at: asked for once one stays, one at a time, the latest wanted
// first, and given up when nobody looks any more.

import type { Ask } from "../wire/source.ts";

export type Answered<Answer> =
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly message: string };

const MOST_CACHED = 60;
/** Who steps on before that has not asked. */
const SETTLE_MS = 150;
const LOADING = { kind: "loading" } as const;

export class Answers {
  #states = $state.raw<ReadonlyMap<string, Answered<unknown>>>(new Map());
  /** How many want it, the latest last. */
  private readonly wanted = new Map<string, number>();
  private underWay: { readonly path: string; readonly controller: AbortController } | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly ask: Ask) {}

  /** How it stands with the answer at a path. */
  of<Answer>(path: string): Answered<Answer> {
    return (this.#states.get(path) ?? LOADING) as Answered<Answer>;
  }

  /** Want an answer; returns how to give it up. */
  want(path: string): () => void {
    const others = this.wanted.get(path) ?? 0;
    this.wanted.delete(path);
    this.wanted.set(path, others + 1);
    this.settle();
    return () => this.giveUp(path);
  }

  /** Ask again for what failed. */
  retry(path: string): void {
    this.set(path, null);
    this.next();
  }

  private giveUp(path: string): void {
    const left = (this.wanted.get(path) ?? 1) - 1;
    if (left > 0) {
      this.wanted.set(path, left);
      return;
    }
    this.wanted.delete(path);
    // Who looks from one place to another wants it again at once.
    setTimeout(() => {
      if (!this.wanted.has(path) && this.underWay?.path === path) this.underWay.controller.abort();
    });
  }

  private settle(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.next(), SETTLE_MS);
  }

  private next(): void {
    if (this.underWay) return;
    const path = [...this.wanted.keys()].findLast((each) => !this.#states.has(each));
    if (path !== undefined) void this.load(path);
  }

  private async load(path: string): Promise<void> {
    const controller = new AbortController();
    this.underWay = { path, controller };
    try {
      this.set(path, { kind: "ready", answer: await this.ask(path, controller.signal) });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (!controller.signal.aborted) this.set(path, { kind: "failed", message });
    }
    this.underWay = null;
    this.next();
  }

  private set(path: string, state: Answered<unknown> | null): void {
    const states = new Map(this.#states);
    states.delete(path);
    if (state) states.set(path, state);
    for (const oldest of states.keys()) {
      if (states.size <= MOST_CACHED) break;
      states.delete(oldest);
    }
    this.#states = states;
  }
}
