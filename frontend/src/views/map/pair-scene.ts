// One of two maps as the painter wants it.

import type { Palette } from "../../base/palette.ts";
import { SCALE_COLOURS } from "../../base/palette.ts";
import type { Pen } from "../../base/pen.ts";
import "../../base/text/pair.ts";
import { number, t } from "../../base/text/text.ts";
import type { Pair } from "../../store/pair/pair.svelte.ts";
import { BY_DIFFERENCE, BY_PODS } from "../../store/pair/pair.svelte.ts";
import type { SideName } from "../../store/pair/side.ts";
import { Change, type Standing } from "../../store/pair/standing.ts";
import { Verdict } from "../../store/verdicts.ts";
import { find, type Box, type Layout } from "./layout.ts";
import type { NodeCard, Overlay, PodMark, Scene } from "./paint.ts";
import { CARD, GONE, lookOf, NO_VALUE, star } from "./sprites.ts";
import { drawChange } from "./pair-looks.ts";

/** kubelet's default: what is full where nodes do not say how many pods they take. */
const DEFAULT_MAX_PODS = 110;

export function pairScene(pair: Pair, side: SideName, layout: Layout, palette: Palette): Scene {
  const here = pair.standings[side];
  const changes = pair.differences[side];
  const { colour } = pair;
  return {
    layout,
    palette,
    drawLook: drawChange,
    looks: (node) =>
      here.own[node]! < 0
        ? lookOf(GONE, NO_VALUE, false)
        : lookOf(changes[node]!, colour === BY_DIFFERENCE ? NO_VALUE : shade(here, node, colour), false),
    title: ({ group }) => `${group.name || t("map.allNodes", { n: group.nodes.length })}${named(group)}`,
    banded: colour !== BY_DIFFERENCE,
    pinned: -1,
    card: (node) => cardOf(pair, side, node),
    tally: (box) => tally(box, here, changes, palette),
  };
}

const named = ({ name, nodes }: Box["group"]): string => (name ? `  ${number(nodes.length)}` : "");

/** How full a node is, as a place on the scale. */
function shade({ placed, own }: Standing, node: number, colour: string): number {
  const number = own[node]!;
  const resource = placed.resources.indexOf(colour);
  const most = colour === BY_PODS ? podsOf(placed, number) : placed.allocatable(number, resource);
  if (most <= 0) return NO_VALUE;
  const used = colour === BY_PODS ? placed.nPodsOn(number) : placed.requested(number, resource);
  return Math.max(0, Math.min(SCALE_COLOURS - 1, Math.round((used / most) * (SCALE_COLOURS - 1))));
}

function podsOf(placed: Standing["placed"], node: number): number {
  return placed.allocatable(node, placed.resources.indexOf(BY_PODS)) || DEFAULT_MAX_PODS;
}

function cardOf(pair: Pair, side: SideName, node: number): NodeCard {
  const { placed, own } = pair.standings[side];
  const number = own[node]!;
  const pods = podMarks(pair, side, node);
  return {
    name: pair.shared.nodes.short(node),
    verdict: Verdict.UNEXAMINED,
    note: "",
    nPods: pods.length,
    pods,
    bars: placed.resources.flatMap((resource, r) => {
      const allocatable = placed.allocatable(number, r);
      const requested = placed.requested(number, r);
      const shows = resource === "cpu" || resource === "memory" || (resource.includes("/") && allocatable > 0);
      return shows ? [{ resource, requested, adds: 0, held: 0, allocatable }] : [];
    }),
  };
}

/** The pods of a node: those that are only here first, then, as outlines, those that only the other side has here. */
function podMarks(pair: Pair, side: SideName, node: number): PodMark[] {
  const other = side === "a" ? "b" : "a";
  const there = pair.standings[other].at;
  const here = pair.standings[side].at;
  const name = (pod: number): string => pair.shared.pods.all[pod]!.replace(/^[^/]*\//, "");
  const mine = pair.podsOn(side, node).map((pod): PodMark => {
    const isOnlyHere = there[pod] !== node;
    return { kind: pod === pair.pod ? "incoming" : isOnlyHere ? "selected" : "pod", name: name(pod) };
  });
  const theirs = pair
    .podsOn(other, node)
    .filter((pod) => here[pod] !== node)
    .map((pod): PodMark => ({ kind: "nominated", name: name(pod) }));
  return [...mine, ...theirs].sort((a, b) => Number(a.kind === "pod") - Number(b.kind === "pod"));
}

function tally(box: Box, { own }: Standing, changes: Uint8Array, palette: Palette): ReturnType<Scene["tally"]> {
  const counts = [0, 0, 0, 0];
  for (const node of box.group.nodes) if (own[node]! >= 0) counts[changes[node]!]!++;
  return [
    { colour: palette.feasible, n: counts[Change.MORE]!, hatched: false },
    { colour: palette.victim, n: counts[Change.BOTH]!, hatched: false },
    { colour: palette.nominated, n: counts[Change.LESS]!, hatched: true },
    { colour: palette.line, n: counts[Change.SAME]!, hatched: false },
  ];
}

/** The stars of the pod at hand: filled where it is on this side, hollow where it is on the other. */
export function stars(pair: Pair, side: SideName, layout: Layout, palette: Palette): Overlay {
  const { pod } = pair;
  const here = pair.standings[side].at[pod] ?? -1;
  const there = pair.standings[side === "a" ? "b" : "a"].at[pod] ?? -1;
  return (pen) => {
    if (there >= 0 && there !== here) drawStar(pen, layout, palette, there, palette.surface);
    if (here >= 0) drawStar(pen, layout, palette, here, palette.chosen);
  };
}

function drawStar(pen: Pen, layout: Layout, palette: Palette, node: number, colour: string): void {
  const spot = find(layout, node);
  if (!spot) return;
  const { width, height } = layout.cell;
  const isCard = width >= CARD;
  const x = isCard ? spot.x + width - 13 : spot.x + width / 2;
  const y = isCard ? spot.y + 13 : spot.y + height / 2;
  star(pen, x, y, 11.5, palette.surface);
  star(pen, x, y, 10, palette.ink);
  star(pen, x, y, 7, colour);
}
