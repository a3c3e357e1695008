// The way a pod took through the queues.

import type { QueueMoved } from "../wire/events.ts";
import type { Recording } from "./recording.svelte.ts";

export interface PodStep {
  readonly seq: number;
  readonly cycle: number;
  readonly timeMs: number;
  readonly move: QueueMoved;
}

/** The pod's latest moves up to the moment shown, newest first. */
export function latestMoves(recording: Recording, pod: number, most: number): PodStep[] {
  const { chronicle, trace } = recording.fold;
  const found: PodStep[] = [];
  for (const seq of chronicle.eventsOfPod(pod, recording.state.moment)) {
    const move = trace.event(seq);
    if (move?.kind !== "QueueMoved") continue;
    found.push({ seq, cycle: recording.cycleShowing(seq), timeMs: chronicle.timeMs(seq), move });
    if (found.length === most) break;
  }
  return found;
}
