// The diagrams of the glossary at one moment: which parts are lit, and how many pods are in each. Read from
// the state and from the cycle's record; nothing is computed again.

import { POINT_TERMS, type DiagramName, type TermId } from "../base/glossary.ts";
import { Cache, Queue } from "../wire/events.ts";
import { decidingPoint } from "./cycle.ts";
import type { Explorer } from "./explorer.ts";
import { POD } from "./fold.ts";
import { QUEUE_TERMS } from "./lanes.ts";
import { isAhead } from "./position.ts";
import type { CycleRecord, Outcome, PointStep } from "./record.ts";
import { unreserved } from "./unreserved.ts";

/** `lit`: here one stands; the others say how a point went that one has passed. */
export type Light = "lit" | "done" | "failed" | "skipped";

export interface Lights {
  readonly parts: ReadonlyMap<TermId, Light>;
  readonly counts: ReadonlyMap<TermId, number>;
}

const CACHE_TERMS: Partial<Record<Cache, TermId>> = { [Cache.ASSUMED]: "assume", [Cache.ADDED]: "added" };

const PASSED: Record<Outcome, Light | null> = {
  passed: "done",
  waiting: "done",
  failed: "failed",
  skipped: "skipped",
  unreached: null,
  unknown: null,
};

export function lightsOf(explorer: Explorer, name: DiagramName): Lights {
  if (name === "queues") return queueLights(explorer);
  return name === "cache" ? cacheLights(explorer) : { parts: cycleLights(explorer), counts: new Map() };
}

function queueLights({ state, selection }: Explorer): Lights {
  const queues = Object.entries<TermId>(QUEUE_TERMS);
  const here = QUEUE_TERMS[state.queueOf(selection.pod)];
  return {
    parts: new Map(here ? [[here, "lit"]] : []),
    counts: new Map(queues.map(([queue, term]) => [term, state.count(Number(queue) as Queue)])),
  };
}

function cacheLights({ state, selection }: Explorer): Lights {
  const counts = new Map<TermId, number>([
    ["assume", 0],
    ["added", 0],
  ]);
  for (let pod = 0; pod < state.nPods; pod++) {
    const term = CACHE_TERMS[state.pod(pod, POD.CACHE) as Cache];
    if (term) counts.set(term, counts.get(term)! + 1);
  }
  const here = CACHE_TERMS[state.pod(selection.pod, POD.CACHE) as Cache];
  return { parts: new Map(here ? [[here, "lit"]] : []), counts };
}

function cycleLights(explorer: Explorer): ReadonlyMap<TermId, Light> {
  const { record, position } = explorer.navigation;
  const parts = new Map<TermId, Light>();
  if (!record) return parts;
  const set = (point: string, light: Light | null): void => {
    const term = POINT_TERMS[point];
    if (term && light) parts.set(term, light);
  };
  for (const step of record.points) {
    const light = isAhead(explorer.navigation, step.point) ? null : PASSED[step.outcome];
    set(step.point, light);
    if (step.point === "Score") set("NormalizeScore", light);
    if (step.point === "Permit" && light) parts.set("waiting-on-permit", waited(step, explorer, record));
  }
  if (!record.observed) set("PreEnqueue", "done");
  if (unreserved(explorer, record)) set("Unreserve", "failed");
  const here = position.point ?? decidingPoint(record);
  set(here, "lit");
  if (here === "Score") set("NormalizeScore", "lit");
  return parts;
}

/** What came of waiting for Permit, if it made the pod wait. */
function waited(permit: PointStep, { state }: Explorer, record: CycleRecord): Light {
  if (permit.outcome !== "waiting") return "skipped";
  return state.queueOf(record.started.pod) === Queue.WAITING_ON_PERMIT ? "lit" : "done";
}
