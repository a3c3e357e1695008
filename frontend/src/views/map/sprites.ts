// A cell's looks, drawn once per look and size, then copied.

import { SCALE_COLOURS, type Palette } from "../../base/palette.ts";
import type { Pen } from "../../base/pen.ts";
import { Verdict } from "../../store/verdicts.ts";
import type { Cell } from "./layout.ts";

/** A look: verdict, place on a scale (NO_VALUE for none), and whether it is dimmed. */
export type Look = number;
export const NO_VALUE = SCALE_COLOURS;
const VERDICTS = 16;
const VALUES = 64;
export const GONE = VERDICTS - 1;

export const lookOf = (verdict: number, value: number, dim: boolean): Look =>
  verdict + VERDICTS * (value + VALUES * Number(dim));
export const verdictOf = (look: Look): number => look % VERDICTS;
export const valueOf = (look: Look): number => Math.floor(look / VERDICTS) % VALUES;
export const isDim = (look: Look): boolean => look >= VERDICTS * VALUES;

export interface Sprite {
  readonly canvas: HTMLCanvasElement;
  readonly pixels: Uint32Array;
}

export class Sprites {
  private readonly made = new Map<Look, Sprite>();
  readonly width: number;
  readonly height: number;

  constructor(
    private readonly palette: Palette,
    private readonly cell: Cell,
    private readonly scale: number,
    private readonly draw: DrawLook,
  ) {
    this.width = Math.max(1, Math.round(cell.width * scale));
    this.height = Math.max(1, Math.round(cell.height * scale));
  }

  get(look: Look): Sprite {
    const known = this.made.get(look);
    if (known) return known;
    const sprite = this.make(look);
    this.made.set(look, sprite);
    return sprite;
  }

  private make(look: Look): Sprite {
    const canvas = document.createElement("canvas");
    canvas.width = this.width;
    canvas.height = this.height;
    const context = canvas.getContext("2d", { willReadFrequently: true })!;
    context.fillStyle = this.palette.sunken;
    context.fillRect(0, 0, this.width, this.height);
    context.scale(this.scale, this.scale);
    this.draw(context, this.palette, this.cell, look);
    const { data } = context.getImageData(0, 0, this.width, this.height);
    return { canvas, pixels: new Uint32Array(data.buffer.slice(0)) };
  }
}

/** Draws a cell's looks with its upper left corner at the origin. */
export type DrawLook = (pen: Pen, palette: Palette, cell: Cell, look: Look) => void;

/** What a cycle says of a node. */
export function drawLook(pen: Pen, palette: Palette, cell: Cell, look: Look): void {
  if (isDim(look)) pen.globalAlpha = 0.14;
  drawCell(pen, palette, cell, verdictOf(look), valueOf(look));
}

function drawCell(c: Pen, palette: Palette, cell: Cell, verdict: number, value: number): void {
  const { width: w, height: h } = cell;
  if (verdict === GONE) return frame(c, w, h, palette.line, [1, 3]);
  if (w >= CARD) {
    card(c, palette, w, h, verdict);
    if (value !== NO_VALUE) band(c, h, palette.scale[value]!, palette);
    return;
  }
  if (value !== NO_VALUE) {
    fill(c, w, h, palette.scale[value]!);
    if (verdict === Verdict.CHOSEN) ring(c, palette, w, h);
    return;
  }
  if (w < 6) return speck(c, palette, w, h, verdict);
  small(c, palette, w, h, verdict);
}

/** From this width on a cell has room for a name, and its colour steps back. */
export const CARD = 58;

function small(c: Pen, palette: Palette, w: number, h: number, verdict: number): void {
  switch (verdict) {
    case Verdict.FEASIBLE:
      fill(c, w, h, palette.feasible);
      return glyph(c, TICK, w, h, palette.surface);
    case Verdict.CHOSEN:
      fill(c, w, h, palette.chosen);
      ring(c, palette, w, h);
      return star(c, w / 2, h / 2, Math.min(w, h) * 0.34, palette.ink);
    case Verdict.REJECTED:
      fill(c, w, h, palette.rejectedWash);
      hatch(c, w, h, palette.rejected, 0.5);
      return glyph(c, CROSS, w, h, palette.rejectedInk);
    case Verdict.NOMINATED:
      fill(c, w, h, palette.nominatedWash);
      return frame(c, w, h, palette.nominatedInk, [3, 2], 2);
    case Verdict.HELD:
      fill(c, w, h, palette.rejectedWash);
      frame(c, w, h, palette.nominatedInk, [3, 2], 2);
      return glyph(c, CROSS, w, h, palette.nominatedInk);
    case Verdict.UNEVALUATED:
    case Verdict.UNKNOWN:
      return frame(c, w, h, palette.unevaluated, [1, 2]);
    case Verdict.SKIPPED:
      return frame(c, w, h, palette.lineStrong, [3, 3]);
    default:
      frame(c, w, h, w < 12 ? palette.unevaluated : palette.unexamined, []);
  }
}

// So small that only colour and weight remain; the table has the words.
function speck(c: Pen, palette: Palette, w: number, h: number, verdict: number): void {
  const colours: Record<number, string> = {
    [Verdict.FEASIBLE]: palette.feasible,
    [Verdict.CHOSEN]: palette.chosen,
    [Verdict.REJECTED]: palette.rejected,
    [Verdict.NOMINATED]: palette.nominated,
    [Verdict.HELD]: palette.nominated,
  };
  const colour = colours[verdict];
  if (!colour) return fill(c, w, h, palette.line);
  fill(c, w, h, colour);
  if (verdict !== Verdict.REJECTED && verdict !== Verdict.HELD) return;
  c.fillStyle = palette.rejectedWash;
  for (let y = 0; y < h; y++) c.fillRect((y * 2) % w, y, 1, 1);
}

function card(c: Pen, palette: Palette, w: number, h: number, verdict: number): void {
  const looks: Record<number, [string, string, number[]]> = {
    [Verdict.FEASIBLE]: [palette.feasibleWash, palette.feasible, []],
    [Verdict.CHOSEN]: [palette.chosenWash, palette.chosen, []],
    [Verdict.REJECTED]: [palette.surface, palette.rejected, []],
    [Verdict.NOMINATED]: [palette.nominatedWash, palette.nominatedInk, [5, 3]],
    [Verdict.HELD]: [palette.surface, palette.nominatedInk, [5, 3]],
    [Verdict.UNEVALUATED]: [palette.sunken, palette.unevaluated, [2, 3]],
    [Verdict.SKIPPED]: [palette.surface, palette.lineStrong, [4, 4]],
    [Verdict.UNEXAMINED]: [palette.surface, palette.line, []],
    [Verdict.UNKNOWN]: [palette.sunken, palette.unevaluated, [2, 3]],
  };
  const [back, edge, dash] = looks[verdict] ?? looks[Verdict.UNEXAMINED]!;
  fill(c, w, h, back);
  if (verdict === Verdict.REJECTED || verdict === Verdict.HELD) hatch(c, w, h, palette.rejected, 0.13);
  frame(c, w, h, edge, dash, verdict === Verdict.UNEXAMINED ? 1 : 2);
}

// ---------------------------------------------------------------- shapes

function fill(c: Pen, w: number, h: number, colour: string): void {
  c.fillStyle = colour;
  c.fillRect(0, 0, w, h);
}

function frame(c: Pen, w: number, h: number, colour: string, dash: number[], line = 1): void {
  c.save();
  c.strokeStyle = colour;
  c.lineWidth = line;
  c.setLineDash(dash);
  c.strokeRect(line / 2, line / 2, w - line, h - line);
  c.restore();
}

/** A value's colour down the left edge of a card. */
function band(c: Pen, h: number, colour: string, palette: Palette): void {
  c.fillStyle = colour;
  c.fillRect(0, 0, BAND, h);
  c.fillStyle = palette.surface;
  c.fillRect(BAND, 0, 1, h);
}

export const BAND = 10;

function ring(c: Pen, palette: Palette, w: number, h: number): void {
  frame(c, w, h, palette.ink, [], w < 12 ? 1 : 2);
}

function hatch(c: Pen, w: number, h: number, colour: string, alpha: number): void {
  const gap = Math.max(4, Math.min(9, w / 4));
  c.save();
  c.beginPath();
  c.rect(0, 0, w, h);
  c.clip();
  c.globalAlpha *= alpha;
  c.strokeStyle = colour;
  c.lineWidth = 1.5;
  c.beginPath();
  for (let x = -h; x < w; x += gap) {
    c.moveTo(x, h);
    c.lineTo(x + h, 0);
  }
  c.stroke();
  c.restore();
}

const TICK: [number, number][][] = [
  [
    [0.24, 0.54],
    [0.42, 0.71],
    [0.77, 0.31],
  ],
];
const CROSS: [number, number][][] = [
  [
    [0.3, 0.3],
    [0.7, 0.7],
  ],
  [
    [0.7, 0.3],
    [0.3, 0.7],
  ],
];

function glyph(c: Pen, strokes: [number, number][][], w: number, h: number, colour: string): void {
  const size = Math.min(w, h, 26);
  if (size < 9) return;
  strokesAt(c, strokes, (w - size) / 2, (h - size) / 2, size, colour);
}

function strokesAt(c: Pen, strokes: [number, number][][], x: number, y: number, size: number, colour: string): void {
  c.save();
  c.strokeStyle = colour;
  c.lineWidth = Math.max(1.4, size / 9);
  c.lineCap = c.lineJoin = "round";
  c.beginPath();
  for (const points of strokes) {
    points.forEach(([px, py], i) => {
      if (i) c.lineTo(x + px * size, y + py * size);
      else c.moveTo(x + px * size, y + py * size);
    });
  }
  c.stroke();
  c.restore();
}

export function star(c: Pen, x: number, y: number, radius: number, colour: string): void {
  if (radius < 1.8) return;
  c.save();
  c.fillStyle = colour;
  c.beginPath();
  for (let i = 0; i < 10; i++) {
    const r = i % 2 ? radius * 0.45 : radius;
    const angle = -Math.PI / 2 + (i * Math.PI) / 5;
    c.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
  }
  c.fill();
  c.restore();
}

/** The verdict's sign, for the corner of a card. */
export function sign(c: Pen, palette: Palette, verdict: number, x: number, y: number, size: number): void {
  if (verdict === Verdict.FEASIBLE) strokesAt(c, TICK, x, y, size, palette.feasibleInk);
  if (verdict === Verdict.REJECTED) strokesAt(c, CROSS, x, y, size, palette.rejectedInk);
  if (verdict === Verdict.HELD) strokesAt(c, CROSS, x, y, size, palette.nominatedInk);
  if (verdict === Verdict.CHOSEN) star(c, x + size / 2, y + size / 2, size * 0.46, palette.chosenInk);
}
