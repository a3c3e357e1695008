// A node on one of two maps: whether it has other pods than on the other map. Solid: pods only here; dashed: pods that
// only the other side has here.

import type { Palette } from "../../base/palette.ts";
import type { Pen } from "../../base/pen.ts";
import { Change } from "../../store/pair/standing.ts";
import type { Cell } from "./layout.ts";
import { CARD, drawLook, GONE, isDim, NO_VALUE, valueOf, verdictOf, type Look } from "./sprites.ts";

const SPECK_BELOW = 6;
const SIGNED_FROM = 10;
const MARKED_FROM = 9;
const BAND = 10;

/** `Change` in place of a verdict. */
export function drawChange(pen: Pen, palette: Palette, cell: Cell, look: Look): void {
  const change = verdictOf(look);
  if (change === GONE) return drawLook(pen, palette, cell, look);
  if (isDim(look)) pen.globalAlpha = 0.14;
  const { width: w, height: h } = cell;
  const value = valueOf(look);
  const isCard = w >= CARD;
  fill(pen, w, h, isCard || value === NO_VALUE ? back(palette, change, isCard, w) : palette.scale[value]!);
  if (value !== NO_VALUE && isCard) {
    pen.fillStyle = palette.scale[value]!;
    pen.fillRect(0, 0, BAND, h);
  }
  if (w < SPECK_BELOW) return;
  edge(pen, palette, cell, change);
  if (value === NO_VALUE && !isCard) strokes(pen, palette, cell, change);
  else if (value !== NO_VALUE && !isCard && change && w >= MARKED_FROM) dot(pen, palette, cell);
}

function back(palette: Palette, change: number, isCard: boolean, w: number): string {
  const small = w < SPECK_BELOW;
  if (change === Change.MORE) return isCard ? palette.feasibleWash : palette.feasible;
  if (change === Change.LESS) return small ? palette.nominated : palette.nominatedWash;
  if (change === Change.BOTH) return isCard ? palette.surface : palette.victim;
  return small ? palette.line : palette.surface;
}

function edge(pen: Pen, palette: Palette, { width: w, height: h }: Cell, change: number): void {
  const line = change === Change.SAME || w < 12 ? 1 : 2;
  pen.save();
  pen.lineWidth = line;
  pen.strokeStyle = edgeColour(palette, change);
  pen.setLineDash(change === Change.LESS ? [3, 2] : []);
  pen.strokeRect(line / 2, line / 2, w - line, h - line);
  pen.restore();
}

function edgeColour(palette: Palette, change: number): string {
  if (change === Change.MORE) return palette.feasible;
  if (change === Change.LESS) return palette.nominatedInk;
  return change === Change.BOTH ? palette.victim : palette.line;
}

/** A plus, a minus, or both. */
function strokes(pen: Pen, palette: Palette, { width: w, height: h }: Cell, change: number): void {
  const size = Math.min(w, h, 24);
  if (!change || size < SIGNED_FROM) return;
  const arm = size * 0.24;
  const down = change === Change.BOTH ? size * 0.1 : 0;
  pen.save();
  pen.strokeStyle = change === Change.LESS ? palette.nominatedInk : palette.surface;
  pen.lineWidth = Math.max(1.4, size / 8);
  pen.beginPath();
  pen.moveTo(w / 2 - arm, h / 2 - down);
  pen.lineTo(w / 2 + arm, h / 2 - down);
  if (change !== Change.LESS) {
    pen.moveTo(w / 2, h / 2 - arm - down);
    pen.lineTo(w / 2, h / 2 + arm - down);
  }
  if (change === Change.BOTH) {
    pen.moveTo(w / 2 - arm, h / 2 + arm + down);
    pen.lineTo(w / 2 + arm, h / 2 + arm + down);
  }
  pen.stroke();
  pen.restore();
}

/** Where the colour is that of a resource, a node that differs has a corner of its own. */
function dot(pen: Pen, palette: Palette, { width: w }: Cell): void {
  const size = Math.max(3, w / 4);
  square(pen, w - size - 1, 1, size, palette.surface);
  square(pen, w - size, 1, size - 1, palette.victim);
}

function fill(pen: Pen, w: number, h: number, colour: string): void {
  pen.fillStyle = colour;
  pen.fillRect(0, 0, w, h);
}

function square(pen: Pen, x: number, y: number, size: number, colour: string): void {
  pen.fillStyle = colour;
  pen.fillRect(x, y, size, size);
}
