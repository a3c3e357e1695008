// What happens at the position shown, as one sentence: the caption above the pipeline, and what a
// screen reader says.

import type { NodeIndex, PodIndex } from "../base/units.ts";
import type { Params, TextKey } from "../base/text/text.ts";
import { Result } from "../wire/events.ts";
import type { CycleRecord, PluginStep, PointStep } from "./record.ts";
import type { Explorer } from "./explorer.ts";
import { observedStory } from "./observed.ts";
import { gaveWay, wasLeaving } from "./state.ts";

const LONG_MESSAGE = 70;

/** `targets` says which parameters can be clicked, and what they select. */
export interface Sentence {
  readonly key: TextKey;
  readonly params: Params;
  readonly targets: Readonly<Record<string, { pod?: PodIndex; node?: NodeIndex }>>;
}

export function narrate(explorer: Explorer): Sentence {
  const { record, position } = explorer.navigation;
  if (!record) return beforeTheFirst(explorer);
  const { finished } = record;
  if (record.observed && finished && finished.result !== Result.UNKNOWN) {
    const { node, message } = finished;
    return {
      key: node < 0 ? "observed.refused" : "observed.bound",
      params: { pod: explorer.podKey(record.started.pod), node: explorer.nodeName(node), message },
      targets: { pod: { pod: record.started.pod }, node: { node } },
    };
  }
  if (record.observed) {
    const { key, params } = observedStory(record, position.point);
    return {
      key,
      params: { ...params, pod: explorer.podKey(record.started.pod) },
      targets: { pod: { pod: record.started.pod } },
    };
  }
  // A link may name a point that this cycle did not come to.
  const step = record.points.find((each) => each.point === position.point && each.ran);
  if (!step) return ofCycle(explorer, record);
  const plugin = step.plugins.find((p) => p.plugin === position.plugin);
  return plugin ? ofPlugin(explorer, record, step, plugin) : ofPoint(explorer, record, step);
}

const BEFORE_ANYTHING: Partial<Record<string, TextKey>> = {
  queued: "story.reading",
  running: "story.reading",
  paused: "story.paused",
};

function beforeTheFirst(explorer: Explorer): Sentence {
  const { nCycles, live } = explorer;
  if (explorer.awaited) return { key: "story.awaited", params: { n: explorer.awaited }, targets: {} };
  if (!explorer.fold.trace.length) {
    return { key: BEFORE_ANYTHING[live.status?.status ?? ""] ?? "story.loading", params: {}, targets: {} };
  }
  if (!nCycles && live.status?.status === "finished") return { key: "story.nothing", params: {}, targets: {} };
  if (explorer.fold.observed && !nCycles) return { key: "observed.start", params: {}, targets: {} };
  const n = explorer.fold.nodesSeen.filter((node) => explorer.state.nodeExists(node)).length;
  const pods = explorer.state.podsWhere(() => true).length;
  return { key: "story.start", params: { n, pods }, targets: {} };
}

interface Words {
  params: Params;
  targets: Record<string, { pod?: PodIndex; node?: NodeIndex }>;
}

function words(explorer: Explorer, record: CycleRecord): Words {
  const { started, selected, filter, postFilter } = record;
  const node = selected?.node ?? postFilter?.node ?? -1;
  return {
    params: {
      pod: explorer.podKey(started.pod),
      node: explorer.nodeName(node),
      all: started.n_nodes,
      n: filter?.n_feasible ?? 0,
      fit: filter?.n_feasible ?? 0,
      examined: filter?.n_examined ?? 0,
      held: filter?.n_held ?? 0,
      attempt: started.attempt,
    },
    targets: { pod: { pod: started.pod }, node: { node } },
  };
}

function ofCycle(explorer: Explorer, record: CycleRecord): Sentence {
  const { params, targets } = words(explorer, record);
  // What Permit or the binding cycle comes to later is no part of the moment shown.
  const finished = record.ended;
  if (!finished) return { key: "story.running", params, targets };
  switch (finished.result) {
    case Result.UNSCHEDULABLE:
      return unschedulable(explorer, record, params, targets);
    case Result.ERROR:
      return { key: "story.error", params: { ...params, message: rootCause(finished.message) }, targets };
    case Result.SKIPPED:
      return { key: "story.skipped", params, targets };
    case Result.WAITING:
      return { key: "story.waiting", params, targets };
    default:
      return placed(explorer, record, params, targets);
  }
}

/** Errors wrap one another, `a: b: c`; of a long one the headline has the innermost. */
const rootCause = (message: string): string =>
  message.length > LONG_MESSAGE ? message.slice(message.lastIndexOf(": ") + 1).trim() : message;

function unschedulable(explorer: Explorer, record: CycleRecord, params: Params, targets: Words["targets"]): Sentence {
  if (record.postFilter && record.postFilter.node >= 0) {
    const victims = evictedBy(explorer, record);
    if (!victims.length) return { key: "story.preemptsLeaving", params, targets };
    const isWithoutEviction = victims.every((pod) => gaveWay(explorer.state, pod));
    const key = isWithoutEviction ? "story.preemptsWaiting" : "story.preempts";
    return { key, params: { ...params, n: victims.length }, targets };
  }
  if (record.preFilter && record.preFilter.status.code !== "Success") {
    return {
      key: "story.preFilterFails",
      params: { ...params, reason: record.preFilter.status.reasons.join(", ") },
      targets,
    };
  }
  if (record.selected) return refused(record, params, targets);
  if (record.filter?.n_held) {
    return { key: "story.fitsNowhereHeld", params: { ...params, n: Number(params.all) }, targets };
  }
  return { key: "story.fitsNowhere", params: { ...params, n: Number(params.all) }, targets };
}

/** The victims that would stay without this cycle's preemption. */
const evictedBy = ({ state }: Explorer, { preemption, seqs }: CycleRecord): readonly PodIndex[] =>
  preemption.decided?.victims.filter((pod) => !wasLeaving(state, pod, seqs[0] ?? 0)) ?? [];

/** A node was chosen, and a later point refused the pod there. */
function refused(record: CycleRecord, params: Params, targets: Words["targets"]): Sentence {
  const at = record.points.find((each) => each.outcome === "failed");
  const reason = at?.status?.reasons.join(", ") ?? record.finished?.message ?? "";
  return { key: "story.pointFails", params: { ...params, point: at?.point ?? "Permit", reason }, targets };
}

function placed(explorer: Explorer, record: CycleRecord, params: Params, targets: Words["targets"]): Sentence {
  const { selected, filter } = record;
  if (filter?.by_nomination) return { key: "story.nominated", params, targets };
  if (selected && filter?.hint === selected.node && filter.n_examined === 1) {
    return { key: "story.hinted", params, targets };
  }
  if (!selected || selected.rule === "single") return { key: "story.onlyNode", params, targets };
  if (selected.n_tied > 1) {
    const tied = { ...params, tied: selected.n_tied, total: selected.total };
    return { key: selected.rule === "draw" ? "story.drawn" : "story.tie", params: tied, targets };
  }
  const margin = selected.total - selected.runner_up_total;
  const won = {
    ...params,
    total: selected.total,
    margin,
    second: explorer.nodeName(selected.runner_up),
  };
  return {
    key: "story.wins",
    params: won,
    targets: { ...targets, second: { node: selected.runner_up } },
  };
}

function ofPoint(explorer: Explorer, record: CycleRecord, step: PointStep): Sentence {
  const { params, targets } = words(explorer, record);
  const say = (key: TextKey, more: Params = {}): Sentence => ({ key, params: { ...params, ...more }, targets });
  const reason = step.status?.reasons.join(", ") ?? "";
  const skipped = step.plugins.filter((p) => p.outcome === "skipped").length;
  switch (step.point) {
    case "QueueSort":
      return say("story.queueSort", { priority: explorer.state.podFacts(record.started.pod)?.priority ?? 0 });
    case "PreFilter":
      if (step.outcome === "failed") return say("story.preFilterFails", { reason });
      return record.preFilter?.narrowed
        ? say("story.preFilterNarrows", { n: record.preFilter.narrowed.length })
        : say("story.preFilter", { n: step.plugins.length - skipped, skipped });
    case "Filter":
      if (record.filter?.by_nomination) return say("story.filterNominated");
      if (record.filter?.n_held) return say("story.filterHeld");
      return say(stoppedEarly(record) ? "story.filterSamples" : "story.filter");
    case "PostFilter":
      return step.outcome === "passed"
        ? say(...madeRoom(explorer, record, step, "story.postFilter"))
        : say("story.postFilterFails");
    case "PreScore":
      return say("story.preScore", { n: step.plugins.length - skipped, skipped });
    case "Score":
      return record.selected?.rule === "single"
        ? say("story.scoreSkipped")
        : say("story.score", { n: record.selected?.n_scored ?? 0 });
    case "Permit":
      return say(
        step.outcome === "waiting"
          ? "story.permitWaits"
          : step.outcome === "failed"
            ? "story.pointFails"
            : "story.permit",
        { reason, point: step.point },
      );
    default:
      if (step.outcome === "failed") return say("story.pointFails", { reason: rootCause(reason), point: step.point });
      return say(BINDING_STORIES[step.point] ?? "story.postBind");
  }
}

/** Whether enough nodes were found before all were examined; PreFilter may have left fewer to examine. */
const stoppedEarly = ({ filter, preFilter, started }: CycleRecord): boolean =>
  filter !== null && filter.n_examined < (preFilter?.narrowed?.length ?? started.n_nodes);

const BINDING_STORIES: Partial<Record<string, TextKey>> = {
  Reserve: "story.reserve",
  PreBind: "story.preBind",
  Bind: "story.bind",
  PostBind: "story.postBind",
};

function ofPlugin(explorer: Explorer, record: CycleRecord, step: PointStep, plugin: PluginStep): Sentence {
  const { params, targets } = words(explorer, record);
  const name = explorer.pluginName(plugin.plugin);
  const say = (key: TextKey, more: Params = {}): Sentence => ({
    key,
    params: { ...params, plugin: name, point: step.point, ...more },
    targets,
  });
  if (plugin.outcome === "skipped") return say("story.pluginSkips");
  if (step.point === "Filter") {
    const evaluated = evaluatedBy(step, plugin);
    if (plugin.outcome === "unevaluated" || !evaluated) return say("story.pluginUnevaluated");
    return plugin.rejected
      ? say("story.pluginRejects", { n: plugin.rejected, evaluated })
      : say("story.pluginAccepts", { n: evaluated });
  }
  if (step.point === "Score" && step.outcome === "passed") {
    return say("story.pluginScores", { n: record.selected?.n_scored ?? 0, weight: plugin.weight });
  }
  if (plugin.outcome === "unevaluated") return say("story.pluginUnevaluated");
  if (step.point === "PostFilter" && plugin.outcome !== "passed") return say("story.pluginNoRoom");
  if (step.point === "PostFilter") return say(...madeRoom(explorer, record, step, "story.pluginNominates"));
  if (plugin.outcome === "failed") {
    const key = step.status?.code === "Error" ? "story.pointFails" : "story.pluginFails";
    return say(key, { reason: step.status?.reasons.join(", ") ?? "" });
  }
  return say(plugin.outcome === "waiting" ? "story.pluginWaits" : "story.pluginPasses");
}

/** What PostFilter came to: pods give way on a node, or a plugin did something else. */
function madeRoom(explorer: Explorer, record: CycleRecord, step: PointStep, nominates: TextKey): [TextKey, Params] {
  const plugin = explorer.pluginName(step.plugins.find(({ outcome }) => outcome === "passed")?.plugin ?? -1);
  const n = evictedBy(explorer, record).length;
  if ((record.postFilter?.node ?? -1) < 0) return ["story.pluginPasses", { plugin, point: step.point }];
  return [n ? nominates : "story.preemptsLeaving", { n, plugin }];
}

/** How many nodes a Filter plugin evaluated: those no plugin before it rejected. */
export function evaluatedBy(step: PointStep, plugin: PluginStep): number {
  let left = step.flow?.into ?? 0;
  for (const earlier of step.plugins) {
    if (earlier === plugin) break;
    left -= earlier.rejected;
  }
  return left;
}
