// Playing: steps at the chosen granularity, `speed` cycles a second, never faster than the screen.

import type { Navigation, Remember } from "../store/navigation.svelte.ts";

const STEP_MS = 1000;
const MOST_AT_ONCE = 50;

export class Player {
  private handle = 0;
  private due = 0;
  /** What the next step of playing is to the address bar: one comes back to where it began. */
  private remember: Remember = "push";

  constructor(private readonly navigation: Navigation) {}

  start(): void {
    if (this.handle) return;
    this.navigation.playing = true;
    this.remember = "push";
    this.due = performance.now() + STEP_MS / this.navigation.speed;
    this.handle = requestAnimationFrame(this.tick);
  }

  stop(): void {
    cancelAnimationFrame(this.handle);
    this.handle = 0;
    this.navigation.playing = false;
  }

  toggle(): void {
    if (this.handle) return this.stop();
    const { position, nCycles } = this.navigation;
    if (position.cycle >= nCycles && nCycles > 1) this.navigation.goToCycle(1, "replace");
    this.start();
  }

  private readonly tick = (now: number): void => {
    const { navigation } = this;
    if (!navigation.playing) {
      this.handle = 0;
      return;
    }
    const pace = STEP_MS / navigation.speed;
    const steps = Math.min(MOST_AT_ONCE, Math.floor((now - this.due) / pace) + 1);
    if (steps > 0) {
      this.due = Math.max(this.due + steps * pace, now - pace);
      if (!this.advance(steps)) return this.stop();
    }
    this.handle = requestAnimationFrame(this.tick);
  };

  /** Several cycles in one frame are one jump; finer steps are taken one by one. */
  private advance(steps: number): boolean {
    const { navigation } = this;
    const { position, by, nCycles } = navigation;
    const { remember } = this;
    this.remember = "replace";
    if (by !== "cycle" || steps === 1) return navigation.step(1, remember);
    if (position.cycle >= nCycles) return false;
    navigation.goToCycle(Math.min(nCycles, position.cycle + steps), remember);
    return true;
  }
}
