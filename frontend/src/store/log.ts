// Every event of a cycle in a line of words, for those who want the whole story.

import "../base/text/late.ts";
import { inWords } from "../base/text/said.ts";
import { t } from "../base/text/text.ts";
import type { PodIndex, Seq } from "../base/units.ts";
import { Queue, Result, type EventRecorded, type HeaderEvent, type PodEvicted } from "../wire/events.ts";
import type { Explorer } from "./explorer.ts";
import { madeWith } from "./made.ts";

const nameOf = <T extends Record<string, number>>(values: T, value: number): string =>
  (Object.keys(values).find((key) => values[key] === value) ?? "").toLowerCase().replaceAll("_", " ");

export interface Recorded {
  readonly seq: Seq;
  readonly event: EventRecorded;
}

/** The Kubernetes Events about a pod up to the moment shown, newest first. */
export function eventsAbout(explorer: Explorer, pod: PodIndex, most = Infinity): Recorded[] {
  const { chronicle, trace } = explorer.fold;
  const found: Recorded[] = [];
  for (const seq of chronicle.eventsOfPod(pod, explorer.state.moment)) {
    const event = trace.event(seq);
    if (event?.kind === "EventRecorded") found.push({ seq, event });
    if (found.length === most) break;
  }
  return found;
}

function evicted(explorer: Explorer, event: PodEvicted): string {
  const [pod, reason] = [explorer.podKey(event.pod), inWords(event.reason, event.said)];
  if (event.by_pod < 0) return `${pod} (${reason})`;
  return t("log.evictedBy", { pod, reason, by: explorer.podKey(event.by_pod) });
}

/** Upstream's words for an event's fields; names stay as they are in every language. */
export function summary(explorer: Explorer, event: HeaderEvent): string {
  const pod = "pod" in event ? explorer.podKey(event.pod) : "";
  const node = "node" in event ? explorer.nodeName(event.node) : "";
  switch (event.kind) {
    case "QueueMoved":
      return `${pod} → ${nameOf(Queue, event.queue)} (${event.event})`;
    case "NominationChanged":
      return event.node < 0 ? `${pod} −` : `${pod} → ${node}`;
    case "CycleStarted":
      return t("log.cycle", { n: String(event.cycle), pod, attempt: event.attempt });
    case "PreFilterFinished":
    case "PreScoreFinished":
    case "PostFilterFinished":
      return [event.status.code, ...event.status.reasons].join(" ");
    case "FilterFinished":
      return `${event.n_examined} → ${event.n_feasible}`;
    case "NodeSelected":
      return `${node} (${event.total}, ${event.rule})`;
    case "PreemptionStarted":
      return t("log.preemption", { potential: event.n_potential, wanted: event.n_wanted });
    case "PreemptionDecided":
      return event.winner < 0
        ? "−"
        : `${explorer.nodeName(event.winner)}: ${event.victims.map((p) => explorer.podKey(p)).join(", ")}`;
    case "PreemptionIneligible":
      return event.reason;
    case "PointFinished":
      return `${event.point}: ${[event.status.code, ...event.status.reasons].join(" ")}`;
    case "PermitWaiting":
      return `${pod}: ${explorer.pluginName(event.plugin)}`;
    case "PermitResolved":
      return `${pod}: ${event.decision}`;
    case "Unreserved":
      return `${pod} → ${node}: ${event.plugins.map((plugin) => explorer.pluginName(plugin)).join(", ")}`;
    case "CycleFinished":
      return `${nameOf(Result, event.result)} ${event.message}`;
    case "EventRecorded":
      return `${event.reason}: ${event.message}`;
    case "PodEvicted":
      return evicted(explorer, event);
    case "ScenarioStepped":
      return inWords(event.text, event.said);
    case "RunStarted": {
      const made = madeWith(event, explorer.released);
      return made ? [made.release, ...made.changes].join(", ") : "";
    }
    case "ClockAdvanced":
    case "NodeOrderChanged":
      return "";
    case "ResourcesDefined":
      return event.names.join(", ");
    case "DevicesAllocated":
      return `${pod} → ${node}: ${event.claim} (${event.devices.map((d) => `${d.pool}/${d.device}`).join(", ")})`;
    case "ExtenderCalled":
      return `${event.extender} ${event.verb}: ${event.n_nodes_in} → ${event.n_nodes_out}`;
    case "RunFinished":
      return inWords(event.reason, event.said);
    default:
      return [pod, node].filter(Boolean).join(" → ");
  }
}
