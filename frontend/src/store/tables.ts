// The Explorer's tables as data: all of their rows, names instead of numbers, in the order and with the
// filter of the screen. Amounts are plain numbers with their unit in the head of the column.

import type { PodIndex } from "../base/units.ts";
import type { Cell } from "../base/csv.ts";
import "../base/text/late.ts";
import { t, type TextKey } from "../base/text/text.ts";
import { Queue, Result, type CandidateRecord } from "../wire/events.ts";
import type { Explorer } from "./explorer.ts";
import { POD } from "./fold.ts";
import { backoffUntilMs, lanes, moveOf, permitWaitOf, verdictOf } from "./lanes.ts";
import { eventsAbout, summary } from "./log.ts";
import { cacheState, nodeAtHand, verdictsAt } from "./nodes.ts";
import { isAhead } from "./position.ts";
import { filterPlugins, filterRows, nodeReason, nodeRows, nodeScore, ranking, rejectedAt } from "./rows.ts";
import type { State } from "./state.ts";
import { statusOf } from "./verdicts.ts";

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export const TABLES = [
  "nodes",
  "filter",
  "scores",
  "dryRuns",
  "criteria",
  "cache",
  "events",
  "log",
  "queues",
  "cycles",
] as const;
export type TableName = (typeof TABLES)[number];

/** The table at the moment shown; null where there is none, or where it would give away what lies ahead. */
export function tableOf(name: TableName, explorer: Explorer): Table | null {
  return MAKERS[name](explorer);
}

const MAKERS: Record<TableName, (explorer: Explorer) => Table | null> = {
  nodes,
  filter,
  scores,
  dryRuns,
  criteria,
  cache,
  events,
  log,
  queues,
  cycles,
};

const unit = (name: string): string =>
  name === "cpu" ? "milli" : /memory|storage|hugepages/.test(name) ? "bytes" : "";
const head = (name: string, what: string): string =>
  [name, t(`csv.${what}` as TextKey), unit(name)].filter(Boolean).join(" ");
/** Resources of which pods request amounts: of pods themselves there is one each. */
const amountsOf = (state: State): { name: string; resource: number }[] =>
  state.resources.map((name, resource) => ({ name, resource })).filter(({ name }) => name !== "pods");
const heads = (...names: string[]): string[] => names.map((name) => t(`csv.${name}` as TextKey));
const SECOND_MS = 1000;

function nodes(explorer: Explorer): Table | null {
  const { state } = explorer;
  const verdicts = verdictsAt(explorer);
  const resources = amountsOf(state);
  const pods = state.resources.indexOf("pods");
  const rows = nodeRows(explorer, verdicts).map((node): Cell[] => [
    explorer.nodeName(node),
    state.nodeFacts(node)?.zone ?? "",
    t(`verdict.${verdicts[node] ?? 0}` as TextKey),
    nodeReason(explorer, node),
    nodeScore(explorer, node),
    state.nPodsOn(node),
    pods < 0 ? null : state.allocatable(node, pods),
    ...resources.flatMap(({ resource }) => [state.requested(node, resource), state.allocatable(node, resource)]),
  ]);
  const amounts = resources.flatMap(({ name }) => [head(name, "requested"), head(name, "allocatable")]);
  return filled([...heads("node", "zone", "verdict", "reason", "score", "pods", "podsAllocatable"), ...amounts], rows);
}

function filter(explorer: Explorer): Table | null {
  const detail = explorer.details.ready;
  if (!detail || isAhead(explorer.navigation, "Filter")) return null;
  const plugins = filterPlugins(explorer);
  const rows = filterRows(explorer, detail, plugins).map((node): Cell[] => {
    const at = rejectedAt(detail, plugins, node);
    const status = statusOf(detail, node)!;
    const said = plugins.map((_, i) =>
      t(i < at ? "filter.passed" : i === at ? "filter.rejected" : "filter.unevaluated"),
    );
    return [explorer.nodeName(node), ...said, status.code, status.reasons.join("; ")];
  });
  return filled([...heads("node"), ...plugins.map((p) => explorer.pluginName(p)), ...heads("code", "reasons")], rows);
}

function scores(explorer: Explorer): Table | null {
  const scored = explorer.details.ready?.scores;
  if (!scored || isAhead(explorer.navigation, "Score")) return null;
  const winner = explorer.navigation.record?.selected?.node ?? -1;
  const columns = scored.plugins.flatMap(({ plugin, weight }) => {
    const name = explorer.pluginName(plugin);
    return [`${name} ${t("score.raw")}`, `${name} ${t("score.normalized")}`, `${name} × ${weight}`];
  });
  const rows = ranking(scored, winner).map((i, place): Cell[] => [
    place + 1,
    explorer.nodeName(scored.nodes[i]!),
    scored.nodes[i] === winner ? t("verdict.4") : "",
    ...scored.plugins.flatMap((p) => [p.raw[i]!, p.normalized[i]!, p.normalized[i]! * p.weight].map(Number)),
    Number(scored.totals[i]!),
  ]);
  return filled([...heads("place", "node", "chosen"), ...columns, ...heads("total")], rows);
}

// ---------------------------------------------------------------- preemption

function dryRuns(explorer: Explorer): Table | null {
  const dryRun = explorer.details.ready?.dryRun;
  if (!dryRun || isAhead(explorer.navigation, "PostFilter")) return null;
  const names = (pods: readonly PodIndex[]): string => pods.map((pod) => explorer.podKey(pod)).join(" ");
  const reprieved = (c: CandidateRecord): number[] => c.reprieves.filter((r) => r.kept).map((r) => r.pod);
  const rows = dryRun.candidates.map((c): Cell[] => [
    explorer.nodeName(c.node),
    c.status.code,
    c.status.reasons.join("; "),
    names(c.removed),
    names(reprieved(c)),
    names(c.victims),
    c.victims.length,
    c.n_pdb_violations,
  ]);
  return filled(
    heads("node", "code", "reasons", "removed", "reprieved", "victims", "nVictims", "nPdbViolations"),
    rows,
  );
}

function criteria(explorer: Explorer): Table | null {
  const decided = explorer.navigation.record?.preemption?.decided;
  if (!decided?.nodes.length || isAhead(explorer.navigation, "PostFilter")) return null;
  const rows = decided.nodes.map((node): Cell[] => {
    const out = decided.criteria.findIndex((criterion) => !criterion.kept.includes(node));
    const values = decided.criteria.map((criterion, i): Cell => {
      const before = i === 0 ? decided.nodes : decided.criteria[i - 1]!.kept;
      const value = criterion.values[before.indexOf(node)];
      return value === undefined ? null : Number(value);
    });
    const left = node === decided.winner ? t("csv.winner") : out < 0 ? "" : decided.criteria[out]!.name;
    return [explorer.nodeName(node), ...values, left];
  });
  return filled([...heads("node"), ...decided.criteria.map((c) => c.name), ...heads("decidedBy")], rows);
}

// ---------------------------------------------------------------- the cache, and what happened

/** Pods on the node at hand, and pods nominated to it. */
function cache(explorer: Explorer): Table | null {
  const { state } = explorer;
  const node = nodeAtHand(explorer);
  if (node < 0) return null;
  const pods = [
    ...state.podsWhere((pod) => state.nodeOf(pod) === node).map((pod) => ({ pod, held: t(cacheState(state, pod)) })),
    ...state.podsWhere((pod) => state.nominatedNodeOf(pod) === node).map((pod) => ({ pod, held: t("verdict.5") })),
  ];
  const resources = amountsOf(state);
  const rows = pods.map(({ pod, held }): Cell[] => {
    const { priority = 0, requests = [] } = state.podFacts(pod) ?? {};
    return [
      explorer.nodeName(node),
      explorer.podKey(pod),
      held,
      priority,
      ...resources.map(({ resource }) => requests[resource] ?? 0),
    ];
  });
  const amounts = resources.map(({ name }) => head(name, "requested"));
  return filled([...heads("node", "pod", "held", "priority"), ...amounts], rows);
}

/** What `kubectl describe pod` would list, newest first. */
function events(explorer: Explorer): Table | null {
  const { chronicle } = explorer.fold;
  const rows = eventsAbout(explorer, explorer.selection.pod).map(({ seq, event }): Cell[] => [
    explorer.podKey(explorer.selection.pod),
    chronicle.timeMs(seq) / SECOND_MS,
    explorer.cycleShowing(seq),
    event.type,
    event.reason,
    event.message,
  ]);
  return filled(heads("pod", "seconds", "cycle", "type", "reason", "message"), rows);
}

/** Every event of the cycle, with those that led to it, up to the moment shown. */
function log(explorer: Explorer): Table | null {
  const { chronicle, trace } = explorer.fold;
  const seqs = explorer.navigation.record
    ? [...explorer.navigation.record.leadIn, ...explorer.navigation.record.seqs]
    : [];
  const rows = seqs
    .filter((seq) => seq < explorer.state.moment)
    .flatMap((seq): Cell[][] => {
      const event = trace.event(seq);
      return event ? [[seq, chronicle.timeMs(seq) / SECOND_MS, event.kind, summary(explorer, event)]] : [];
    });
  return filled(heads("seq", "seconds", "kind", "what"), rows);
}

// ---------------------------------------------------------------- queues and cycles

export const LANE_NAMES: Record<Queue, string> = {
  [Queue.NOWHERE]: "none",
  [Queue.IN_FLIGHT]: "inFlight",
  [Queue.WAITING_ON_PERMIT]: "permit",
  [Queue.BINDING]: "binding",
  [Queue.ACTIVE]: "active",
  [Queue.BACKOFF]: "backoff",
  [Queue.UNSCHEDULABLE]: "unschedulable",
  [Queue.GATED]: "gated",
};

function queues(explorer: Explorer): Table | null {
  const { state } = explorer;
  const rows = lanes(state, Infinity).flatMap(({ queue, pods }) =>
    pods.map((pod, i): Cell[] => {
      const move = moveOf(state, pod);
      const verdict = verdictOf(state, pod);
      const wait = permitWaitOf(state, pod);
      return [
        t(`queue.${LANE_NAMES[queue]}` as TextKey),
        i + 1,
        explorer.podKey(pod),
        state.podFacts(pod)?.priority ?? 0,
        state.pod(pod, POD.CYCLE) || null,
        verdict?.unschedulable_plugins.map((p) => explorer.pluginName(p)).join(" ") ?? "",
        move?.event ?? "",
        move && move.gated_by >= 0 ? explorer.pluginName(move.gated_by) : "",
        queue === Queue.BACKOFF ? backoffUntilMs(state, pod) / SECOND_MS : null,
        wait ? wait.untilMs / SECOND_MS : null,
      ];
    }),
  );
  return filled(
    heads(
      "queue",
      "place",
      "pod",
      "priority",
      "lastCycle",
      "rejectedBy",
      "movedBy",
      "gatedBy",
      "backoffUntil",
      "permitUntil",
    ),
    rows,
  );
}

const RESULTS = Object.values(Result);

function cycles(explorer: Explorer): Table | null {
  const { chronicle } = explorer.fold;
  const rows = Array.from({ length: explorer.navigation.nCycles }, (_, i): Cell[] => {
    const cycle = i + 1;
    const result = chronicle.result.at(cycle);
    const fits = chronicle.nFeasible.at(cycle);
    return [
      cycle,
      chronicle.timeMs(chronicle.startSeq.at(cycle)) / SECOND_MS,
      explorer.podKey(chronicle.pod.at(cycle)),
      chronicle.attempt.at(cycle),
      RESULTS.includes(result as Result) ? t(`result.${result}` as TextKey) : "",
      explorer.nodeName(chronicle.node.at(cycle)),
      fits < 0 ? null : fits,
      chronicle.nNodes.at(cycle),
      chronicle.preempted.at(cycle) ? t("tables.preempted") : "",
    ];
  });
  return filled(heads("cycle", "seconds", "pod", "attempt", "result", "node", "nFit", "nNodes", "preemption"), rows);
}

const filled = (columns: readonly string[], rows: readonly (readonly Cell[])[]): Table | null =>
  rows.length ? { columns, rows } : null;
