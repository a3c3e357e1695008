// From the moment shown to what the painter needs.

import type { NodeIndex, PodIndex } from "../../base/units.ts";
import { SCALE_COLOURS, type Palette } from "../../base/palette.ts";
import { t } from "../../base/text/text.ts";
import type { Explorer } from "../../store/explorer.ts";
import { POD } from "../../store/fold.ts";
import type { Measure } from "../../store/nodes.ts";
import { isTainted, refusal, shownResources } from "../../store/nodes.ts";
import type { Position } from "../../store/position.ts";
import type { CycleRecord } from "../../store/record.ts";
import type { State } from "../../store/state.ts";
import { Verdict, type CycleDetail } from "../../store/verdicts.ts";
import type { Box, Layout } from "./layout.ts";
import type { NodeCard, PodBlock, PodMark, Scene } from "./paint.ts";
import { drawLook, GONE, lookOf, NO_VALUE } from "./sprites.ts";

export interface Inputs {
  readonly explorer: Explorer;
  readonly layout: Layout;
  readonly palette: Palette;
  readonly verdicts: Uint8Array;
  readonly measure: Measure;
  readonly matches: ((node: NodeIndex) => boolean) | null;
  readonly title: (box: Box) => string;
}

export function makeScene(inputs: Inputs): Scene {
  const { explorer, layout, palette, verdicts, measure, matches, title } = inputs;
  const { isolate } = explorer.display.map;
  const { lit } = explorer.selection;
  const look = lookAt(explorer);
  const { state } = look;
  const looks = (node: NodeIndex): number => {
    if (!state.nodeExists(node)) return lookOf(GONE, NO_VALUE, false);
    const verdict = verdicts[node] ?? Verdict.UNEXAMINED;
    const dim =
      (isolate >= 0 && verdict !== isolate) || (matches !== null && !matches(node)) || lit?.has(node) === false;
    return lookOf(verdict, place(measure, node), dim);
  };
  let podsByNode: Map<number, number[]> | null = null;
  const podsOn = (node: NodeIndex): readonly number[] => (podsByNode ??= podsPerNode(state)).get(node) ?? [];
  return {
    layout,
    palette,
    looks,
    drawLook,
    title: (box) => withPods(title(box), box, layout, state),
    banded: measure.values !== null,
    pinned: verdicts.findIndex((verdict) => verdict === Verdict.CHOSEN || verdict === Verdict.NOMINATED),
    card: (node) => nodeCard(look, node, verdicts[node] ?? 0, podsOn(node)),
    tally: (box) => tally(box, verdicts, palette, state),
  };
}

/** What the painter will look up, read now: it draws later, when nothing notices any more what it reads. */
interface Look {
  readonly explorer: Explorer;
  readonly state: State;
  readonly record: CycleRecord | null;
  readonly detail: CycleDetail | null;
  readonly position: Position;
  /** -1 unless one asked for it. */
  readonly pinnedPod: number;
}

function lookAt(explorer: Explorer): Look {
  const { state, navigation, selection, details } = explorer;
  const { record, position } = navigation;
  return {
    explorer,
    state,
    record,
    position,
    detail: details.ready,
    pinnedPod: selection.podIsPinned ? selection.pod : -1,
  };
}

function place({ values, low, high }: Measure, node: NodeIndex): number {
  const value = values?.[node] ?? NaN;
  if (Number.isNaN(value)) return NO_VALUE;
  const share = high > low ? (value - low) / (high - low) : 1;
  return Math.min(SCALE_COLOURS - 1, Math.max(0, Math.round(share * (SCALE_COLOURS - 1))));
}

function podsPerNode(state: State): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const pod of state.podsWhere((p) => state.nodeOf(p) >= 0 || state.nominatedNodeOf(p) >= 0)) {
    const node = nodeOrNominated(state, pod);
    const pods = found.get(node);
    if (pods) pods.push(pod);
    else found.set(node, [pod]);
  }
  return found;
}

/** Where a pod is, or else the node it is nominated to. */
function nodeOrNominated(state: State, pod: PodIndex): NodeIndex {
  const node = state.nodeOf(pod);
  return node >= 0 ? node : state.nominatedNodeOf(pod);
}

function nodeCard(look: Look, node: NodeIndex, verdict: number, pods: readonly PodIndex[]): NodeCard {
  const { explorer, state, record } = look;
  const at = record?.started.pod ?? -1;
  const here = state.nodeOf(at) === node;
  const requests = state.podFacts(at)?.requests ?? [];
  const nominated = pods.filter((pod) => state.nodeOf(pod) < 0);
  const facts = state.nodeFacts(node);
  const mayFit = verdict === Verdict.FEASIBLE || verdict === Verdict.CHOSEN;
  return {
    name: explorer.shortNodeName(node),
    verdict,
    nPods: pods.length,
    note: noteOn(look, node, verdict),
    isCordoned: facts?.unschedulable ?? false,
    isTainted: facts !== undefined && isTainted(facts),
    pods: pods
      .map((pod): PodMark => ({
        kind: kindOf(look, pod),
        name: state.podFacts(pod)?.name ?? "",
        share: shareOf(state, node, pod),
      }))
      .sort((a, b) => Number(a.kind === "pod") - Number(b.kind === "pod")),
    bars: shownResources(explorer, node).map((resource) => {
      const adds = mayFit || here ? (requests[resource] ?? 0) : 0;
      const taken = state.requested(node, resource);
      return {
        resource: state.resources[resource]!,
        held: nominated.reduce((sum, pod) => sum + (state.podFacts(pod)?.requests[resource] ?? 0), 0),
        requested: here ? taken : taken + adds,
        adds,
        allocatable: state.allocatable(node, resource),
      };
    }),
  };
}

/** The largest share of a resource of the node that the pod requests. */
function shareOf(state: State, node: NodeIndex, pod: PodIndex): number {
  const requests = state.podFacts(pod)?.requests ?? [];
  return requests.reduce((most, amount, resource) => {
    const there = state.allocatable(node, resource);
    return state.resources[resource] !== "pods" && there > 0 ? Math.max(most, amount / there) : most;
  }, 0);
}

/** From this width of a cell on, the pods of a group are counted beside its name. */
const COUNTED_FROM = 150;

function withPods(title: string, { group }: Box, { cell }: Layout, state: State): string {
  if (cell.width < COUNTED_FROM) return title;
  const n = group.nodes.reduce((sum, node) => sum + state.nPodsOn(node), 0);
  return `${title} · ${t("map.pods", { n })}`;
}

function kindOf({ state, record, pinnedPod }: Look, pod: PodIndex): PodBlock {
  if (state.nodeOf(pod) < 0) return "nominated";
  if (pod === record?.started.pod) return "incoming";
  if (state.pod(pod, POD.EVICTION)) return "victim";
  return pod === pinnedPod ? "selected" : "pod";
}

function noteOn({ explorer, record, detail, position }: Look, node: NodeIndex, verdict: number): string {
  const { point, plugin } = position;
  if (!detail || point === "QueueSort" || point === "PreFilter") return "";
  const refused = refusal(explorer, record, detail, node);
  if (refused) {
    const shows = verdict === Verdict.REJECTED || verdict === Verdict.NOMINATED || verdict === Verdict.HELD;
    if (!shows) return "";
    return verdict === Verdict.HELD ? refused.nominated : refused.reasons.map(onOne).join(", ");
  }
  const at = detail.scores?.at.get(node);
  if (at === undefined || point === "Filter") return "";
  const column = detail.scores!.plugins.find((p) => p.plugin === plugin);
  return t("map.total", { n: column ? column.normalized[at]! : detail.scores!.totals[at]! });
}

/** A reason without what upstream puts before it to count nodes: on one node there is no room for it. */
const onOne = (reason: string): string => reason.replace(/^node\(s\) /, "");

function tally(box: Box, verdicts: Uint8Array, palette: Palette, state: State): ReturnType<Scene["tally"]> {
  const counts = new Array<number>(Object.keys(Verdict).length).fill(0);
  for (const node of box.group.nodes) if (state.nodeExists(node)) counts[verdicts[node] ?? 0]!++;
  return [
    { colour: palette.chosen, n: counts[Verdict.CHOSEN]!, hatched: false },
    { colour: palette.nominated, n: counts[Verdict.NOMINATED]!, hatched: false },
    { colour: palette.feasible, n: counts[Verdict.FEASIBLE]!, hatched: false },
    { colour: palette.nominated, n: counts[Verdict.HELD]!, hatched: true },
    { colour: palette.rejected, n: counts[Verdict.REJECTED]!, hatched: true },
    {
      colour: palette.line,
      n:
        counts[Verdict.UNEXAMINED]! +
        counts[Verdict.UNEVALUATED]! +
        counts[Verdict.SKIPPED]! +
        counts[Verdict.UNKNOWN]!,
      hatched: false,
    },
  ];
}
