// Where in the run one stands, and every way to move.

import type { Cycle, PodIndex } from "../base/units.ts";
import { Result } from "../wire/events.ts";
import {
  granularityOf,
  neighbour,
  refine,
  samePosition,
  START,
  wholeCycle,
  type Granularity,
  type Position,
} from "./position.ts";
import type { CycleRecord } from "./record.ts";
import type { Recording } from "./recording.svelte.ts";

/** Cycles a second. */
export const SPEEDS = [0.5, 1, 2, 4, 10, 30] as const;
/** Up to this speed, motion helps. */
const CALM = 4;

/**
 * Whether a step of navigation is one to come back to, or takes the place of the one before. Of many `step`s in
 * quick succession one comes back to the first.
 */
export type Remember = "push" | "step" | "replace";

export interface Moved {
  readonly from: Position;
  readonly to: Position;
  /** Whether one is likely to go on to the neighbours. */
  readonly looksAhead: boolean;
}

export class Navigation {
  position = $state.raw<Position>(START);
  by = $state.raw<Granularity>("cycle");
  /** Whether the position moves along with a run that is being recorded. */
  following = $state(false);
  playing = $state(false);
  speed = $state(1);
  /** Whether what changed may be shown moving: one step at a time, and not in a hurry. */
  moves = $state(false);
  readonly record: CycleRecord | null = $derived.by(
    () => this.recording.tried?.record ?? this.recording.record(this.position.cycle),
  );

  /** `onMove` hears of every change of place, `onCommit` of those that the address bar should show. */
  constructor(
    private readonly recording: Recording,
    private readonly onMove: (moved: Moved) => void,
    private readonly onCommit: (remember: Remember) => void,
  ) {}

  get nCycles(): number {
    return this.recording.nCycles;
  }

  /** Be at a position, without a word to the address bar. */
  show(to: Position, looksAhead = true): void {
    const from = this.position;
    if (!samePosition(from, to)) this.position = to;
    this.moves = Math.abs(to.cycle - from.cycle) <= 1 && !(this.playing && this.speed > CALM);
    this.recording.seek(this.momentOf(to));
    this.onMove({ from, to, looksAhead });
  }

  go(to: Position, remember: Remember = "push"): void {
    const cycle = Math.max(0, Math.min(to.cycle, this.nCycles));
    if (to.point !== null) this.by = granularityOf(to);
    this.following = false;
    this.show({ ...to, cycle });
    this.onCommit(remember);
  }

  goToCycle(cycle: Cycle, remember: Remember = "push"): void {
    this.go(wholeCycle(cycle), remember);
  }

  jump(cycles: number): void {
    this.goToCycle(this.position.cycle + cycles, "step");
  }

  /**
   * Follow a pointer that drags along the run: neighbours are not fetched, nobody stays to see them. One comes back
   * to where it began (`remember` says so), not to where it passed.
   */
  scrub(cycle: Cycle, remember: Remember = "replace"): void {
    if (samePosition(this.position, wholeCycle(cycle))) return;
    this.following = false;
    this.show(wholeCycle(cycle), false);
    this.onCommit(remember);
  }

  /** One step at the granularity; false at the end. */
  step(direction: 1 | -1, remember: Remember = "step"): boolean {
    const recordOf = (cycle: Cycle): CycleRecord | null => this.recording.record(cycle);
    const next = neighbour(this.position, this.by, direction, this.nCycles, recordOf);
    if (!next) return false;
    this.following = false;
    this.show(next);
    this.onCommit(remember);
    return true;
  }

  setGranularity(by: Granularity): void {
    this.by = by;
    this.show(refine(this.position, this.record, by));
    this.onCommit("push");
  }

  /** Go to the latest cycle, and on with the run. */
  follow(): void {
    this.following = true;
    this.show(wholeCycle(this.nCycles));
    this.onCommit("push");
  }

  /** The next cycle (or previous) in which a pod was not placed; false if there is none. */
  toFailure(direction: 1 | -1): boolean {
    const { result, nCycles } = this.recording.fold.chronicle;
    let cycle = this.position.cycle + direction;
    for (; cycle >= 1 && cycle <= nCycles; cycle += direction) {
      const how = result.at(cycle);
      if (how === Result.UNSCHEDULABLE || how === Result.ERROR || how === Result.BIND_ERROR) {
        this.goToCycle(cycle);
        return true;
      }
    }
    return false;
  }

  /** The next cycle (or previous) that says something about a pod; false if there is none. */
  toEventOf(pod: PodIndex, direction: 1 | -1): boolean {
    const here = this.position.cycle;
    let found = -1;
    for (const seq of this.recording.fold.chronicle.eventsOfPod(pod)) {
      const cycle = this.recording.cycleShowing(seq);
      if (direction === 1 && cycle <= here) break;
      if (direction === -1 && cycle >= here) continue;
      found = cycle;
      if (direction === -1) break;
    }
    if (found < 0) return false;
    this.goToCycle(found);
    return true;
  }

  private momentOf({ cycle, point }: Position): number {
    const step = this.recording.record(cycle)?.points.find((each) => each.point === point);
    return step ? step.moment : this.recording.fold.chronicle.endMoment.at(cycle);
  }
}
