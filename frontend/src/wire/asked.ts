// Details of cycles that were asked for over the line and are not here yet.

import type { Cycle } from "../base/units.ts";

interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

export class Asked {
  private readonly waiting = new Map<Cycle, Waiting>();
  private scheduled = false;

  /** `tell` sends what is wanted now, which takes the place of what was wanted before. */
  constructor(private readonly tell: (cycles: readonly Cycle[]) => void) {}

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  ask(cycle: Cycle, signal: AbortSignal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.waiting.set(cycle, { resolve, reject });
      signal.addEventListener("abort", () => {
        if (this.waiting.get(cycle)?.resolve !== resolve) return;
        this.waiting.delete(cycle);
        reject(new Error("given up"));
        this.schedule();
      });
      this.schedule();
    });
  }

  /** Hand a detail to who asked for it; false if nobody did. */
  answer(cycle: Cycle, bytes: Uint8Array): boolean {
    const waiting = this.waiting.get(cycle);
    this.waiting.delete(cycle);
    waiting?.resolve(bytes);
    return waiting !== undefined;
  }

  refuse(cycle: Cycle, error: Error): void {
    this.waiting.get(cycle)?.reject(error);
    this.waiting.delete(cycle);
  }

  refuseAll(error: Error): void {
    for (const cycle of [...this.waiting.keys()]) this.refuse(cycle, error);
  }

  /** A new line knows nothing of what was wanted on the old one. */
  tellAgain(): void {
    if (!this.isEmpty) this.schedule();
  }

  /** What is asked for in one go is sent as one message. */
  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.tell([...this.waiting.keys()]);
    });
  }
}
