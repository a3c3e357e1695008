// Why a pod found no node: the funnel from all nodes to those that fit, its causes, and what came
// nearest. Everything here points to its evidence.
//
// `why` is the twin of scheduler_core/trace/why.py, which says by what rule nodes are near; both
// explain the cycles of tests/trace/why_fixture.json alike, so change them together.

import { FIT, REJECTING, RESOLVABLE, UNRESOLVABLE, type StatusRecord } from "../wire/events.ts";
import { attachedPlugins } from "./cycle.ts";
import type { Fold } from "./fold.ts";
import { nominatedOn, type Nominated } from "./nominated.ts";
import type { CycleRecord } from "./record.ts";
import { Room, type Mask, type Shortage } from "./shortages.ts";
import { State } from "./state.ts";
import type { CycleDetail } from "./verdicts.ts";

const MAX_NEAREST = 10;

/**
 * A reason given for `n` nodes; for `unresolvable` of them evicting pods would not help, for `nominated` it holds only
 * because nominated pods count there.
 */
export interface Cause {
  readonly plugins: readonly number[];
  readonly reason: string;
  readonly n: number;
  readonly unresolvable: number;
  readonly nominated: number;
}

/**
 * The nodes that one plugin was the first to reject. Several plugins may narrow the nodes together
 * in PreFilter; none are given where the trace does not tell. Nodes and causes need the detail.
 */
export interface FunnelStep {
  readonly point: "PreFilter" | "Filter";
  readonly plugins: readonly number[];
  readonly rejected: number;
  readonly left: number;
  readonly nodes: readonly number[];
  readonly causes: readonly Cause[];
  readonly unresolvable: number;
}

/** A rejected node that came near; `plugins` are all that are known to be against it. */
export interface NearMiss {
  readonly node: number;
  readonly plugin: number;
  readonly code: string;
  readonly reasons: readonly string[];
  readonly plugins: readonly number[];
  readonly shortages: readonly Shortage[];
  /** What nominated pods do to the verdict; null for nothing. */
  readonly nominated: Nominated | null;
}

/**
 * What became of a cycle's nodes. `nearest` is empty where a node was feasible; `held` nodes would be, were no
 * nominated pods counted on them.
 */
export interface Why {
  readonly nodes: number;
  readonly examined: number;
  readonly feasible: number;
  readonly held: number;
  readonly funnel: readonly FunnelStep[];
  readonly causes: readonly Cause[];
  readonly nearest: readonly NearMiss[];
}

/** Explain a cycle; `state` is that of the run when the cycle began. */
export function why(record: CycleRecord, detail: CycleDetail | null, state: State): Why {
  const { filter, started } = record;
  const steps = funnel(record, detail, state);
  return {
    nodes: started.n_nodes,
    examined: Math.max(0, filter?.n_examined ?? 0),
    feasible: filter?.n_feasible ?? 0,
    held: filter?.n_held ?? 0,
    funnel: steps,
    causes: inOrder(
      steps.flatMap((step) => step.causes),
      state.fold,
    ),
    nearest: detail && filter && !filter.n_feasible ? nearest(record, detail, state) : [],
  };
}

/** How many nodes the funnel begins with. */
export const funnelStart = (found: Why): number =>
  found.funnel[0]?.point === "PreFilter" || !found.examined ? found.nodes : found.examined;

/** Explains cycles, with a look of its own at the moments they began; remembers what it explained. */
export class Explanations {
  private readonly state: State;
  private readonly known = new WeakMap<CycleDetail, { readonly record: CycleRecord; readonly found: Why }>();

  constructor(fold: Fold) {
    this.state = new State(fold);
  }

  why(record: CycleRecord, detail: CycleDetail | null): Why {
    const known = detail ? this.known.get(detail) : undefined;
    if (known?.record === record) return known.found;
    // Counts need no state: who scrubs, without waiting for detail, pays for one seek only.
    if (detail || !record.filter || record.preFilter?.narrowed) this.state.seek(record.seqs[0] ?? 0);
    const found = why(record, detail, this.state);
    if (detail) this.known.set(detail, { record, found });
    return found;
  }
}

// ---------------------------------------------------------------- funnel

function funnel(record: CycleRecord, detail: CycleDetail | null, state: State): FunnelStep[] {
  const { preFilter } = record;
  if (!preFilter) return [];
  const found: FunnelStep[] = [];
  if (REJECTING.has(preFilter.status.code)) found.push(rejectedPod(record, preFilter.status, state));
  else if (preFilter.narrowed) found.push(narrowed(record, preFilter.narrowed, state));
  return [...found, ...filterSteps(record, detail, state.fold)];
}

/** Labels of the cluster events that a plugin of a profile registered for: they may wake a pod it rejected. */
export const wakingEvents = (fold: Fold, profile: number, plugin: number): readonly string[] =>
  fold.run?.profiles[profile]?.wakes.find((each) => each.plugin === plugin)?.events ?? [];

/** PreFilter rejected the pod before any node was looked at. */
function rejectedPod({ started }: CycleRecord, status: StatusRecord, { nodeOrder }: State): FunnelStep {
  const n = started.n_nodes;
  const unresolvable = status.code === UNRESOLVABLE ? n : 0;
  const plugins = [status.plugin];
  const causes = status.reasons.map((reason) => ({ plugins, reason, n, unresolvable, nominated: 0 }));
  return { point: "PreFilter", plugins, rejected: n, left: 0, nodes: [...nodeOrder], causes, unresolvable };
}

/** Those that made the pod unschedulable without rejecting a node in Filter must have narrowed. */
function narrowed(record: CycleRecord, kept: readonly number[], state: State): FunnelStep {
  const { fold } = state;
  const keeps = new Set(kept);
  const nodes = state.nodeOrder.filter((node) => !keeps.has(node));
  const rejecting = new Set(record.filter?.rejected.map((each) => each.plugin));
  const attached = attachedPlugins(fold, record.started.profile).get("PreFilter")?.plugins ?? [];
  const plugins = (record.finished?.unschedulable_plugins ?? [])
    .filter((plugin) => attached.includes(plugin) && !rejecting.has(plugin))
    .sort((a, b) => compareTexts(nameOf(fold, a), nameOf(fold, b)));
  const n = nodes.length;
  const names = plugins.map((plugin) => nameOf(fold, plugin)).join(" ");
  const reason = `node(s) didn't satisfy plugin(s) [${names}]`;
  const causes = plugins.length && n ? [{ plugins, reason, n, unresolvable: n, nominated: 0 }] : [];
  const left = record.started.n_nodes - n;
  return { point: "PreFilter", plugins, rejected: n, left, nodes, causes, unresolvable: n };
}

/** A step for each plugin that rejected nodes, in Filter's order; then extenders. */
function filterSteps(record: CycleRecord, detail: CycleDetail | null, fold: Fold): FunnelStep[] {
  if (!record.filter) return [];
  const place = filterPlaces(record, fold);
  const placeOf = (plugin: number): number => place.get(plugin) ?? place.size;
  const nodesBy = detail ? nodesByStatus(detail) : [];
  let left = record.filter.n_examined;
  return [...record.filter.rejected]
    .sort((a, b) => placeOf(a.plugin) - placeOf(b.plugin))
    .map(({ plugin, n_nodes: rejected }): FunnelStep => {
      left -= rejected;
      const given = nodesBy.filter((each) => each.status.plugin === plugin && each.nodes.length);
      const nodes = given.flatMap((each) => each.nodes).sort((a, b) => a - b);
      const hopeless = given.filter((each) => each.status.code === UNRESOLVABLE);
      const unresolvable = hopeless.reduce((sum, each) => sum + each.nodes.length, 0);
      const causes = inOrder(causesOf(plugin, given, detail), fold);
      return { point: "Filter", plugins: [plugin], rejected, left, nodes, causes, unresolvable };
    });
}

interface Given {
  readonly status: StatusRecord;
  readonly nodes: number[];
}

/** The statuses that reject, each with its nodes. */
function nodesByStatus({ statuses, statusOf, examined }: CycleDetail): Given[] {
  const found = statuses.map((status): Given => ({ status, nodes: [] }));
  for (const node of examined) found[statusOf[node]! - 1]!.nodes.push(node);
  return found.slice(1);
}

function causesOf(plugin: number, given: readonly Given[], detail: CycleDetail | null): Cause[] {
  const found = new Map<string, { n: number; unresolvable: number; nominated: number }>();
  for (const { status, nodes } of given) {
    const without = detail ? statusesWithout(detail, nodes) : [];
    for (const reason of status.reasons) {
      const counts = found.get(reason) ?? { n: 0, unresolvable: 0, nominated: 0 };
      counts.n += nodes.length;
      counts.nominated += without.filter((other) => other.plugin !== plugin || !other.reasons.includes(reason)).length;
      if (status.code === UNRESOLVABLE) counts.unresolvable += nodes.length;
      found.set(reason, counts);
    }
  }
  return [...found].map(([reason, counts]) => ({ plugins: [plugin], reason, ...counts }));
}

/** What nodes on which nominated pods decide would be without those pods. */
function statusesWithout({ nominated, statuses }: CycleDetail, nodes: readonly number[]): StatusRecord[] {
  if (!nominated.size) return [];
  return nodes.filter((node) => nominated.has(node)).map((node) => statuses[nominated.get(node)!.without]!);
}

/** The weightiest cause first; among equals by plugin and reason. */
function inOrder(causes: readonly Cause[], fold: Fold): Cause[] {
  const name = ({ plugins }: Cause): string => plugins.map((plugin) => nameOf(fold, plugin)).join(", ");
  return [...causes].sort((a, b) => b.n - a.n || compareTexts(name(a), name(b)) || compareTexts(a.reason, b.reason));
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const nameOf = (fold: Fold, plugin: number): string => fold.run?.plugins[plugin] ?? "";

/** The place of each plugin in Filter's order. */
function filterPlaces(record: CycleRecord, fold: Fold): Map<number, number> {
  const attached = attachedPlugins(fold, record.started.profile).get("Filter")?.plugins ?? [];
  return new Map(attached.map((plugin, i) => [plugin, i]));
}

// ---------------------------------------------------------------- nearest misses

/** What a status means for all its nodes. */
interface Reach {
  readonly status: StatusRecord;
  /** The shortages that count against a node; undefined: none do. */
  readonly mask: Mask | undefined;
  readonly fit: number;
  readonly isResolvable: boolean;
  readonly notEvaluated: number;
}

/** A node with what it is sorted by, nearest first. */
interface Candidate {
  readonly node: number;
  readonly reach: Reach;
  readonly against: number;
  readonly missing: number;
  readonly place: number;
}

function nearest(record: CycleRecord, detail: CycleDetail, state: State): NearMiss[] {
  const room = new Room(state, record.started.pod, detail.nominated);
  const places = new Int32Array(detail.statusOf.length).fill(-1);
  state.nodeOrder.forEach((node, i) => {
    if (node < places.length) places[node] = i;
  });
  const found: Candidate[] = [];
  const reaches = detail.statuses.map((status) => reachOf(status, record, state.fold, room));
  for (const node of detail.examined) {
    const reach = reaches[detail.statusOf[node]! - 1]!;
    if (!REJECTING.has(reach.status.code)) continue;
    const missing = reach.mask === undefined ? 0 : room.missing(node, reach.mask);
    const against = missing > 0 && reach.status.plugin !== reach.fit ? 2 : 1;
    insert(found, { node, reach, against, missing, place: places[node]! });
  }
  return found.map(({ node, reach }) => nearMiss(node, reach, room, nominatedOn(detail, node)));
}

function reachOf(status: StatusRecord, record: CycleRecord, fold: Fold, room: Room): Reach {
  const places = filterPlaces(record, fold);
  const skipped = new Set(record.preFilter?.skipped);
  const takingPart = [...places.keys()].filter((plugin) => !skipped.has(plugin));
  const fit = fold.run?.plugins.indexOf(FIT) ?? -1;
  const place = places.get(status.plugin) ?? places.size;
  let mask: Mask | undefined;
  if (takingPart.includes(fit) && status.plugin === fit) mask = room.named(status.reasons);
  else if (takingPart.includes(fit) && place < places.get(fit)!) mask = null;
  return {
    status,
    mask,
    fit,
    isResolvable: status.code === RESOLVABLE,
    notEvaluated: takingPart.filter((plugin) => places.get(plugin)! > place).length,
  };
}

/** Keep the nearest in order. */
function insert(found: Candidate[], candidate: Candidate): void {
  if (found.length === MAX_NEAREST && compare(candidate, found.at(-1)!) >= 0) return;
  const at = found.findIndex((other) => compare(candidate, other) < 0);
  found.splice(at < 0 ? found.length : at, 0, candidate);
  if (found.length > MAX_NEAREST) found.pop();
}

function compare(a: Candidate, b: Candidate): number {
  return (
    a.against - b.against ||
    Number(b.reach.isResolvable) - Number(a.reach.isResolvable) ||
    a.missing - b.missing ||
    a.reach.notEvaluated - b.reach.notEvaluated ||
    a.reach.status.reasons.length - b.reach.status.reasons.length ||
    a.place - b.place
  );
}

function nearMiss(node: number, { status, mask, fit }: Reach, room: Room, nominated: Nominated | null): NearMiss {
  const shortages = mask === undefined ? [] : room.shortages(node, mask);
  const { plugin, code, reasons } = status;
  const plugins = shortages.length && plugin !== fit ? [plugin, fit] : [plugin];
  return { node, plugin, code, reasons, plugins, shortages, nominated };
}
