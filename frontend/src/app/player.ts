// Playing: steps at the chosen granularity, `speed` cycles a second, never faster than the screen.

import type { Explorer } from "../store/explorer.ts";

const STEP_MS = 1000;
const MOST_AT_ONCE = 50;

export class Player {
  private handle = 0;
  private due = 0;

  constructor(private readonly explorer: Explorer) {}

  start(): void {
    if (this.handle) return;
    this.explorer.setPlaying(true);
    this.due = performance.now() + STEP_MS / this.explorer.frame.speed;
    this.handle = requestAnimationFrame(this.tick);
  }

  stop(): void {
    cancelAnimationFrame(this.handle);
    this.handle = 0;
    if (this.explorer.frame.playing) this.explorer.setPlaying(false);
  }

  toggle(): void {
    if (this.handle) return this.stop();
    const { position, nCycles } = this.explorer.frame;
    if (position.cycle >= nCycles && nCycles > 1) this.explorer.goToCycle(1, "replace");
    this.start();
  }

  private readonly tick = (now: number): void => {
    const { frame } = this.explorer;
    if (!frame.playing) {
      this.handle = 0;
      return;
    }
    const pace = STEP_MS / frame.speed;
    const steps = Math.min(MOST_AT_ONCE, Math.floor((now - this.due) / pace) + 1);
    if (steps > 0) {
      this.due = Math.max(this.due + steps * pace, now - pace);
      if (!this.advance(steps)) return this.stop();
    }
    this.handle = requestAnimationFrame(this.tick);
  };

  /** Several cycles in one frame are one jump; finer steps are taken one by one. */
  private advance(steps: number): boolean {
    const { explorer } = this;
    const { position, by, nCycles } = explorer.frame;
    if (by !== "cycle" || steps === 1) return explorer.step(1);
    if (position.cycle >= nCycles) return false;
    explorer.goToCycle(Math.min(nCycles, position.cycle + steps), "replace");
    return true;
  }
}
