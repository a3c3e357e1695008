// One scheduling cycle as its header events tell it: the points it went through, in order, and
// what each plugin made of it. These are also the stops when stepping.

import type { PodIndex, Seq } from "../base/units.ts";
import {
  Result,
  type CycleFinished,
  type CycleStarted,
  type ExtenderCalled,
  type HeaderEvent,
  type PointPlugins,
  type PreFilterFinished,
  type PreScoreFinished,
  type StatusRecord,
} from "../wire/events.ts";
import type { Fold } from "./fold.ts";
import { observedStep } from "./observed.ts";
import {
  BINDING_CYCLE,
  POINTS,
  type CycleRecord,
  type Draft,
  type Outcome,
  type PluginStep,
  type Point,
  type PointStep,
  type Step,
} from "./record.ts";

interface Seen {
  byKind: Map<string, { event: HeaderEvent; seq: Seq }>;
  points: Map<string, { status: StatusRecord; seq: Seq }>;
  /** How the cycle ended, before anything that came later. */
  ended: CycleFinished | null;
  extenders: ExtenderCalled[];
  /** Where the latest call with a verb stands. */
  callSeqs: Map<string, number>;
  /** Plugins that hold the pod on Permit. */
  waits: Set<number>;
}

/** Read cycle `number` (from 1) out of the trace. */
export function cycleRecord(fold: Fold, number: number): CycleRecord {
  const { chronicle, trace } = fold;
  const from = chronicle.startSeq.at(number);
  const to = chronicle.endMoment.at(number);
  const started = trace.eventOf(from, "CycleStarted");
  const seen = collect(fold, from, to, started);
  const before = number > 1 ? chronicle.endMoment.at(number - 1) : 0;
  return assembled(fold, {
    number,
    started,
    seen,
    leadIn: number > 1 ? range(before, from) : [],
    seqs: range(from, to),
  });
}

/** A cycle as other events tell it, those of a preview; it keeps its place in the trace. */
export function retold(fold: Fold, recorded: CycleRecord, events: readonly HeaderEvent[]): CycleRecord {
  const { number, leadIn, seqs } = recorded;
  const started = events.find((event) => event.kind === "CycleStarted") ?? recorded.started;
  const seen = nothingSeen();
  for (const event of events) see(seen, event, seqs[0] ?? 0, started);
  return assembled(fold, { number, started, seen, leadIn, seqs });
}

interface Told extends Pick<CycleRecord, "number" | "started" | "leadIn" | "seqs"> {
  readonly seen: Seen;
}

function assembled(fold: Fold, { number, started, seen, leadIn, seqs }: Told): CycleRecord {
  const from = seqs[0] ?? 0;
  const get = <K extends HeaderEvent["kind"]>(kind: K) =>
    (seen.byKind.get(kind)?.event ?? null) as Extract<HeaderEvent, { kind: K }> | null;
  const record = {
    number,
    observed: fold.observed,
    started,
    finished: get("CycleFinished"),
    ended: seen.ended,
    preFilter: get("PreFilterFinished"),
    filter: get("FilterFinished"),
    preScore: get("PreScoreFinished"),
    selected: get("NodeSelected"),
    postFilter: get("PostFilterFinished"),
    extenders: seen.extenders,
    preemption: {
      started: get("PreemptionStarted"),
      decided: get("PreemptionDecided"),
      ineligible: get("PreemptionIneligible"),
    },
    leadIn,
    seqs,
  };
  return { ...record, points: points(fold, record, seen, from, from + seqs.length) };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

const nothingSeen = (): Seen => ({
  byKind: new Map(),
  points: new Map(),
  ended: null,
  extenders: [],
  callSeqs: new Map(),
  waits: new Set(),
});

function collect(fold: Fold, from: number, to: number, started: CycleStarted): Seen {
  const seen = nothingSeen();
  for (let seq = from; seq < to; seq++) see(seen, fold.trace.event(seq), seq, started);
  collectBinding(fold, to, started.pod, seen);
  return seen;
}

function see(seen: Seen, event: HeaderEvent | null, seq: Seq, started: CycleStarted): void {
  if (!event) return;
  if (event.kind === "PointFinished") {
    if (event.pod === started.pod) seen.points.set(event.point, { status: event.status, seq });
  } else if (event.kind === "PermitWaiting") {
    if (event.pod === started.pod) seen.waits.add(event.plugin);
  } else if (event.kind === "ExtenderCalled") {
    if (event.pod !== started.pod) return;
    seen.extenders.push(event);
    seen.callSeqs.set(event.verb, seq);
  } else if (event.kind !== "CycleFinished" || event.cycle === started.cycle) {
    if (event.kind === "CycleFinished") seen.ended ??= event;
    seen.byKind.set(event.kind, { event, seq });
  }
}

// The binding cycle runs beside later scheduling cycles: its events come after this one's.
function collectBinding(fold: Fold, from: number, pod: PodIndex, seen: Seen): void {
  const { chronicle, trace } = fold;
  const later = [...chronicle.eventsOfPod(pod)].filter((seq) => seq >= from).reverse();
  for (const seq of later) {
    const event = trace.event(seq);
    if (event?.kind === "CycleStarted") return;
    // Permit has let the pod go meanwhile, or its binding has failed: what the cycle came to in the end.
    if (event?.kind === "CycleFinished") seen.byKind.set(event.kind, { event, seq });
    if (event?.kind === "PointFinished") seen.points.set(event.point, { status: event.status, seq });
    if (event?.kind === "ExtenderCalled") seen.extenders.push(event);
  }
}

function points(fold: Fold, draft: Draft, seen: Seen, from: number, to: number): PointStep[] {
  const attached = attachedPlugins(fold, draft.started.profile);
  let moment = from + 1;
  return POINTS.map((point) => {
    const step = draft.observed
      ? observedStep(point, draft, seen.callSeqs)
      : pointStep(point, draft, seen, attached.get(point) ?? NO_PLUGINS, fold.run?.plugins ?? []);
    if (step.seq >= 0) moment = Math.max(moment, step.seq + 1);
    const { seq, ...rest } = step;
    if (!draft.finished && step.outcome === "unreached") rest.outcome = "unknown";
    const ran = seq >= 0 || (point === "QueueSort" && !draft.observed);
    const calls = seen.extenders.flatMap((call, i) => (POINT_OF_VERB[call.verb] === point ? [i] : []));
    return { point, ran, calls, moment: BINDING_CYCLE.has(point) ? moment : Math.min(moment, to), ...rest };
  });
}

/** Where the scheduler asks its extenders what. */
const POINT_OF_VERB: Partial<Record<string, Point>> = {
  filter: "Filter",
  prioritize: "Score",
  preempt: "PostFilter",
  bind: "Bind",
};

const NO_PLUGINS: PointPlugins = { point: "", plugins: [], weights: [] };

/** The plugins at each extension point of a profile. */
export function attachedPlugins(fold: Fold, profile: number): Map<string, PointPlugins> {
  return new Map(fold.run?.profiles[profile]?.points.map((point) => [point.point, point]));
}

function pointStep(point: Point, draft: Draft, seen: Seen, attached: PointPlugins, names: readonly string[]): Step {
  switch (point) {
    case "QueueSort":
      return step("passed", plain(attached, "passed"), -1);
    case "PreFilter":
      return preStep(draft.preFilter, seen.byKind.get("PreFilterFinished")?.seq, attached, draft);
    case "Filter":
      return filterStep(draft, seen, attached);
    case "PostFilter":
      return postFilterStep(draft, seen, attached, names.indexOf(PREEMPTS));
    case "PreScore":
      return preStep(draft.preScore, seen.byKind.get("PreScoreFinished")?.seq, attached, null, draft.selected !== null);
    case "Score":
      return scoreStep(draft, seen, attached);
    default:
      return bindStep(point, seen, attached);
  }
}

function step(
  outcome: Outcome,
  plugins: PluginStep[],
  seq: Seq,
  more: Partial<Pick<Step, "flow" | "status">> = {},
): Step {
  return { outcome, plugins, seq, flow: more.flow ?? null, status: more.status ?? null };
}

function plain(attached: PointPlugins, outcome: PluginStep["outcome"]): PluginStep[] {
  return attached.plugins.map((plugin, i) => ({
    plugin,
    outcome,
    rejected: 0,
    weight: attached.weights[i] ?? 0,
  }));
}

/** Plugins run in order until one fails; those that skipped stay out. */
function inOrder(attached: PointPlugins, status: StatusRecord, skipped: readonly number[]): PluginStep[] {
  let failed = false;
  return plain(attached, "passed").map((plugin) => {
    if (skipped.includes(plugin.plugin)) return { ...plugin, outcome: "skipped" };
    if (failed) return { ...plugin, outcome: "unevaluated" };
    failed = status.code !== "Success" && status.plugin === plugin.plugin;
    return failed ? { ...plugin, outcome: "failed" } : plugin;
  });
}

function preStep(
  event: PreFilterFinished | PreScoreFinished | null,
  seq: Seq | undefined,
  attached: PointPlugins,
  draft: Draft | null,
  scoringSkipped = false,
): Step {
  if (!event || seq === undefined) {
    return step(scoringSkipped ? "skipped" : "unreached", plain(attached, "unevaluated"), -1);
  }
  const outcome = event.status.code === "Success" || event.status.code === "Skip" ? "passed" : "failed";
  // Nodes come into it only where some are left out: a pod that passes, or is rejected, was looked at alone.
  const narrowed = event.kind === "PreFilterFinished" ? event.narrowed : null;
  const flow = draft && narrowed ? { into: draft.started.n_nodes, out: narrowed.length } : null;
  return step(outcome, inOrder(attached, event.status, event.skipped), seq, { flow, status: event.status });
}

function filterStep(draft: Draft, seen: Seen, attached: PointPlugins): Step {
  const event = draft.filter;
  if (!event) return step("unreached", plain(attached, "unevaluated"), -1);
  const skipped = draft.preFilter?.skipped ?? [];
  const rejected = new Map(event.rejected.map((r) => [r.plugin, r.n_nodes]));
  let left = event.n_examined;
  const plugins = plain(attached, "passed").map((plugin): PluginStep => {
    if (skipped.includes(plugin.plugin)) return { ...plugin, outcome: "skipped" };
    if (!left) return { ...plugin, outcome: "unevaluated" };
    const n = rejected.get(plugin.plugin) ?? 0;
    left -= n;
    return { ...plugin, outcome: n ? "failed" : "passed", rejected: n };
  });
  // Extenders are no plugins of the profile, but turn nodes down after them.
  const outside = event.rejected
    .filter((r) => !attached.plugins.includes(r.plugin))
    .map((r): PluginStep => ({ plugin: r.plugin, outcome: "failed", rejected: r.n_nodes, weight: 0 }));
  plugins.push(...outside);
  const flow = { into: event.n_examined, out: event.n_feasible };
  const seq = seen.byKind.get("FilterFinished")!.seq;
  return step(event.n_feasible ? "passed" : "failed", plugins, seq, { flow });
}

/** The plugin that decides preemptions. */
const PREEMPTS = "DefaultPreemption";

/** The first plugin that makes room ends it: those before made none, those after are not evaluated. */
function postFilterStep(draft: Draft, seen: Seen, attached: PointPlugins, preempts: number): Step {
  const event = draft.postFilter;
  if (!event) {
    const outcome = draft.selected ? "skipped" : "unreached";
    return step(outcome, plain(attached, "unevaluated"), -1);
  }
  const made = event.status.code === "Success";
  const maker = made ? attached.plugins.indexOf(event.status.plugin < 0 ? preempts : event.status.plugin) : -1;
  const plugins = plain(attached, made ? "passed" : "failed").map((plugin, i): PluginStep =>
    maker < 0 || i === maker ? plugin : { ...plugin, outcome: i < maker ? "failed" : "unevaluated" },
  );
  const seq = seen.byKind.get("PostFilterFinished")!.seq;
  return step(made ? "passed" : "failed", plugins, seq, { status: event.status });
}

function scoreStep(draft: Draft, seen: Seen, attached: PointPlugins): Step {
  const event = draft.selected;
  if (!event) return step("unreached", plain(attached, "unevaluated"), -1);
  const seq = seen.byKind.get("NodeSelected")!.seq;
  const flow = { into: event.n_scored, out: 1 };
  if (event.rule === "single") return step("skipped", plain(attached, "unevaluated"), seq, { flow });
  const skipped = draft.preScore?.skipped ?? [];
  const plugins = plain(attached, "passed").map((plugin): PluginStep =>
    skipped.includes(plugin.plugin) ? { ...plugin, outcome: "skipped" } : plugin,
  );
  return step("passed", plugins, seq, { flow });
}

function bindStep(point: Point, seen: Seen, attached: PointPlugins): Step {
  const done = seen.points.get(point);
  if (!done) return step("unreached", plain(attached, "unevaluated"), -1);
  const { status, seq } = done;
  const outcome =
    status.code === "Success" || status.code === "Skip" ? "passed" : status.code === "Wait" ? "waiting" : "failed";
  if (!attached.plugins.length && outcome === "passed") return step("skipped", [], seq, { status });
  const plugins = inOrder(attached, status, []).map((plugin): PluginStep =>
    point === "Permit" && seen.waits.has(plugin.plugin) ? { ...plugin, outcome: "waiting" } : plugin,
  );
  return step(outcome, plugins, seq, { status });
}

/** The point that decided the cycle: where it failed, or else where the node was chosen. */
export function decidingPoint(record: CycleRecord): Point {
  if (record.observed) return record.points.findLast((p) => p.ran && p.point !== "Score")?.point ?? "Filter";
  if (record.preFilter?.narrowed?.length === 0) return "PreFilter";
  const failed = record.points.find((p) => p.outcome === "failed" && p.point !== "PostFilter");
  if (failed) return failed.point;
  if (record.selected) return record.selected.rule === "single" ? "Filter" : "Score";
  return record.filter ? "Filter" : "PreFilter";
}

export const isPlaced = (result: Result): boolean => result === Result.SCHEDULED || result === Result.WAITING;
