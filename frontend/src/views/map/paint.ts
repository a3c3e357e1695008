// Draws the map. Small cells are stamped into pixels, and only those that changed; larger ones are
// copied from sprites, with names, bars and pods on top once there is room.

import type { NodeIndex } from "../../base/units.ts";
import { fraction, shortResource } from "../../base/format.ts";
import type { Palette } from "../../base/palette.ts";
import type { Pen, Stamp } from "../../base/pen.ts";
import { Verdict } from "../../store/verdicts.ts";
import { BAND, CARD, GONE, sign, Sprites, star, verdictOf, type DrawLook, type Look } from "./sprites.ts";
import { Captions, writeCaption } from "./captions.ts";
import { clip } from "./clip.ts";
import { find, HEADER, spotOf, type Box, type Layout } from "./layout.ts";

export interface NodeCard {
  readonly name: string;
  readonly verdict: number;
  /** Bars of resources: what is taken, what the pod at hand would add, what is held for nominated pods. */
  readonly bars: readonly { resource: string; requested: number; adds: number; held: number; allocatable: number }[];
  readonly pods: readonly PodMark[];
  readonly nPods: number;
  /** Why it was rejected, or what it scored; empty if neither is known. */
  readonly note: string;
  /** Whether it takes no new pods, and whether a taint keeps pods off. */
  readonly isCordoned?: boolean;
  readonly isTainted?: boolean;
}

export interface PodMark {
  readonly kind: PodBlock;
  readonly name: string;
  /** The largest share that it requests of a resource of its node, 0 to 1; its square is as large. */
  readonly share?: number;
}

export type PodBlock = "pod" | "incoming" | "victim" | "selected" | "nominated";

/** Drawn over everything else, in the scene's coordinates. */
export type Overlay = (c: Pen, view: Omit<Viewport, "scale">) => void;

export interface Scene {
  readonly layout: Layout;
  readonly palette: Palette;
  readonly looks: (node: NodeIndex) => Look;
  readonly drawLook: DrawLook;
  readonly card: (node: NodeIndex) => NodeCard;
  /** The node that a pin points out while cells are too small for signs; -1 for none. */
  readonly pinned: number;
  /** Whether cards carry a band of colour at their left. */
  readonly banded: boolean;
  readonly title: (box: Box) => string;
  /** Counts to draw as a small bar beside a group's name: colour and number, in order. */
  readonly tally: (box: Box) => readonly { colour: string; n: number; hatched: boolean }[];
}

export interface Viewport {
  readonly width: number;
  readonly height: number;
  readonly top: number;
  readonly scale: number;
}

const STAMPED_BELOW = 16;
const PINNED_BELOW = 13;
const PODS_FROM = 120;
const VALUES_FROM = 150;
/** From this card width on, pods have names, a line each. */
const LISTED_FROM = 170;
const ROW = 15;
/** The name of a group goes before the bar of its verdicts. */
const LEAST_TALLY = 24;
const CAPTION_LEFT = 8;
/** From this card width on there are words about the verdict. */
const NOTED_FROM = 84;
const NOTE_LINE = 14;
const MOST_NOTE_LINES = 3;

interface Tile {
  image: ImageData;
  pixels: Uint32Array;
  looks: Int32Array;
}

export class Painter {
  private sprites: Sprites | null = null;
  private captions: Captions | null = null;
  private tiles = new Map<Box, Tile>();
  private basis: unknown[] = [];

  draw(c: CanvasRenderingContext2D, scene: Scene, view: Viewport, overlay: Overlay | null = null): void {
    this.prepare(scene, view.scale);
    const { palette, layout } = scene;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = palette.surface;
    c.fillRect(0, 0, c.canvas.width, c.canvas.height);
    const toScene = (): void => c.setTransform(view.scale, 0, 0, view.scale, 0, -view.top * view.scale);
    for (const box of inSight(scene, view)) {
      toScene();
      drawBox(c, scene, box, (title, room) => {
        const caption = this.captions!.get(title, room);
        c.drawImage(caption.canvas, box.x + CAPTION_LEFT, box.y, caption.canvas.width / view.scale, HEADER);
        return caption.width;
      });
      if (layout.cell.width < STAMPED_BELOW) this.stamp(c, scene, box, view);
      else this.place(c, scene, box, view);
    }
    toScene();
    drawPin(c, scene);
    overlay?.(c, view);
  }

  private prepare({ layout, palette, drawLook }: Scene, scale: number): void {
    const basis = [layout, palette, scale];
    if (this.sprites && basis.every((part, i) => part === this.basis[i])) return;
    this.basis = basis;
    this.sprites = new Sprites(palette, layout.cell, scale, drawLook);
    this.captions = new Captions(palette, scale);
    this.tiles.clear();
  }

  private stamp(c: CanvasRenderingContext2D, scene: Scene, box: Box, view: Viewport): void {
    const { cell } = scene.layout;
    const origin = spotOf(box, cell, 0);
    const { scale } = view;
    const step = { x: (cell.width + cell.gap) * scale, y: (cell.height + cell.gap) * scale };
    const lines = Math.ceil(box.group.nodes.length / box.columns);
    const tile = this.tileOf(box, Math.ceil(box.columns * step.x), Math.ceil(lines * step.y), scene.palette);
    const { width } = tile.image;
    const sprites = this.sprites!;
    box.group.nodes.forEach((node, n) => {
      const look = scene.looks(node);
      if (tile.looks[n] === look) return;
      tile.looks[n] = look;
      const left = Math.round((n % box.columns) * step.x);
      const top = Math.round(Math.floor(n / box.columns) * step.y);
      copy(sprites.get(look).pixels, sprites.width, sprites.height, tile.pixels, width, left, top);
    });
    c.putImageData(tile.image, Math.round(origin.x * scale), Math.round((origin.y - view.top) * scale));
  }

  private tileOf(box: Box, width: number, height: number, palette: Palette): Tile {
    const known = this.tiles.get(box);
    if (known) return known;
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d", { willReadFrequently: true })!;
    context.fillStyle = palette.sunken;
    context.fillRect(0, 0, width, height);
    const image = context.getImageData(0, 0, width, height);
    const looks = new Int32Array(box.group.nodes.length).fill(-1);
    const tile = { image, pixels: new Uint32Array(image.data.buffer), looks };
    this.tiles.set(box, tile);
    return tile;
  }

  private place(c: CanvasRenderingContext2D, scene: Scene, box: Box, view: Viewport): void {
    const { cell } = scene.layout;
    box.group.nodes.forEach((node, n) => {
      const { x, y } = spotOf(box, cell, n);
      if (y + cell.height < view.top || y > view.top + view.height) return;
      const look = scene.looks(node);
      c.drawImage(this.sprites!.get(look).canvas, x, y, cell.width, cell.height);
      if (cell.width >= CARD && verdictOf(look) !== GONE) drawCard(c, scene, node, x, y);
    });
  }
}

/** The same without pixels of one's own: every cell is drawn, or stamped by its look. */
export function drawScene(c: Pen, stamp: Stamp, scene: Scene, view: Omit<Viewport, "scale">): void {
  const { palette, layout, drawLook } = scene;
  const { cell } = layout;
  c.save();
  c.beginPath();
  c.rect(0, 0, view.width, view.height);
  c.clip();
  c.fillStyle = palette.surface;
  c.fillRect(0, 0, view.width, view.height);
  c.translate(0, -view.top);
  for (const box of inSight(scene, view)) {
    drawBox(c, scene, box, (title, room) => {
      c.save();
      c.translate(box.x + CAPTION_LEFT, box.y);
      const width = writeCaption(c, palette, title, room);
      c.restore();
      return width;
    });
    box.group.nodes.forEach((node, n) => {
      const { x, y } = spotOf(box, cell, n);
      if (y + cell.height < view.top || y > view.top + view.height) return;
      const look = scene.looks(node);
      stamp(`look-${look}`, x, y, (pen) => drawLook(pen, palette, cell, look));
      if (cell.width >= CARD && verdictOf(look) !== GONE) drawCard(c, scene, node, x, y);
    });
  }
  drawPin(c, scene);
  c.restore();
}

const inSight = ({ layout }: Scene, view: { top: number; height: number }): Box[] =>
  layout.boxes.filter((box) => box.y + box.height >= view.top && box.y <= view.top + view.height);

/** Writes a group's name where it belongs, in the room there is; returns the width it took. */
type WriteCaption = (title: string, room: number) => number;

function drawBox(c: Pen, scene: Scene, box: Box, write: WriteCaption): void {
  const { palette } = scene;
  c.fillStyle = palette.sunken;
  c.beginPath();
  c.roundRect(box.x, box.y, box.width, box.height, 4);
  c.fill();
  const left = box.width - write(scene.title(box), box.width - 2 * CAPTION_LEFT) - 26;
  const tallyWidth = Math.min(120, box.width * 0.35, left);
  if (tallyWidth < LEAST_TALLY) return;
  drawTally(c, scene.tally(box), box.x + box.width - tallyWidth - 8, box.y + 9, tallyWidth, palette);
}

function drawPin(c: Pen, { layout, pinned, palette }: Scene): void {
  const spot = pinned < 0 ? null : find(layout, pinned);
  if (!spot || layout.cell.width >= PINNED_BELOW) return;
  const x = spot.x + layout.cell.width / 2;
  const y = spot.y + layout.cell.height / 2;
  star(c, x, y, 11, palette.surface);
  star(c, x, y, 9.5, palette.ink);
  star(c, x, y, 7.5, palette.chosen);
}

function copy(from: Uint32Array, w: number, h: number, to: Uint32Array, width: number, x: number, y: number): void {
  for (let line = 0; line < h; line++) {
    const start = (y + line) * width + x;
    for (let i = 0; i < w; i++) to[start + i] = from[line * w + i]!;
  }
}

function drawTally(
  c: Pen,
  tally: ReturnType<Scene["tally"]>,
  x: number,
  y: number,
  width: number,
  palette: Palette,
): void {
  const all = tally.reduce((sum, part) => sum + part.n, 0);
  if (!all) return;
  let left = x;
  for (const { colour, n, hatched } of tally) {
    const w = (n / all) * width;
    c.fillStyle = colour;
    c.fillRect(left, y, w, 7);
    if (hatched) {
      c.fillStyle = palette.sunken;
      for (let at = left + 2; at < left + w - 0.5; at += 4) c.fillRect(at, y, 1, 7);
    }
    left += w;
  }
}

function drawCard(c: Pen, scene: Scene, node: NodeIndex, left: number, y: number): void {
  const { palette, layout } = scene;
  const { height } = layout.cell;
  const band = scene.banded ? BAND - 2 : 0;
  const x = left + band;
  const width = layout.cell.width - band;
  const card = scene.card(node);
  const pad = width < 90 ? 6 : 9;
  const signSize = width < 90 ? 12 : 16;
  sign(c, palette, card.verdict, x + width - signSize - pad + 1, y + pad - 2, signSize);
  c.textBaseline = "top";
  c.fillStyle = palette.ink;
  c.font = `600 ${width < 90 ? 11 : 12.5}px ${palette.font}`;
  const marks = drawMarks(c, palette, card, x + pad, y + pad + 1);
  c.fillText(clip(c, card.name, width - signSize - 2 * pad - 2 - marks), x + pad + marks, y + pad);
  c.font = `11.5px ${palette.font}`;
  const room = height - 2 * pad - 16;
  const note = width < NOTED_FROM ? [] : wrapped(c, card.note, width - 2 * pad, Math.floor(room / NOTE_LINE));
  c.fillStyle = NOTE_COLOURS[card.verdict]?.(palette) ?? palette.ink2;
  note.forEach((line, i) => c.fillText(line, x + pad, y + pad + 18 + i * NOTE_LINE));
  const barHeight = width < PODS_FROM ? 4 : 15;
  const forBars = room - note.length * NOTE_LINE;
  const bars = card.bars.slice(0, Math.max(0, Math.floor(forBars / (barHeight + 2))));
  let bottom = y + height - pad;
  for (const bar of [...bars].reverse()) {
    bottom -= barHeight;
    drawBar(c, palette, bar, x + pad, bottom, width - 2 * pad, width >= PODS_FROM);
    bottom -= 2;
  }
  if (width < PODS_FROM) return;
  const top = 20 + note.length * NOTE_LINE + (note.length ? 4 : 0);
  drawPods(c, palette, card, x + pad, y + pad + top, width - 2 * pad, bottom - y - pad - top - 2);
}

const MARK = 10;

/** Draw before a node's name that it is cordoned (a ring with a bar) or tainted (a diamond); return their width. */
function drawMarks(c: Pen, palette: Palette, card: NodeCard, x: number, y: number): number {
  const middle = y + MARK / 2;
  let left = x;
  c.strokeStyle = palette.ink2;
  c.lineWidth = 1.5;
  if (card.isCordoned) {
    c.beginPath();
    c.roundRect(left + 1, y + 1, MARK - 2, MARK - 2, MARK / 2);
    c.moveTo(left + 2.5, middle);
    c.lineTo(left + MARK - 2.5, middle);
    c.stroke();
    left += MARK + 3;
  }
  if (card.isTainted) {
    c.beginPath();
    c.moveTo(left + MARK / 2, y);
    c.lineTo(left + MARK, middle);
    c.lineTo(left + MARK / 2, y + MARK);
    c.lineTo(left, middle);
    c.lineTo(left + MARK / 2, y);
    c.stroke();
    left += MARK + 3;
  }
  return left - x;
}

/** The side of a pod's square: its area is the share of the node that it requests. */
const sideOf = (pod: PodMark, most: number): number =>
  pod.share === undefined ? most : Math.round(Math.min(most, LEAST_SIDE + SIDE_PER_SHARE * Math.sqrt(pod.share)));
const LEAST_SIDE = 4;
const SIDE_PER_SHARE = 14;

/** A text in lines of a width, the last cut where there are more words. */
function wrapped(c: Pen, text: string, width: number, most: number): string[] {
  const lines: string[] = [];
  const limit = Math.min(most, MOST_NOTE_LINES);
  let rest = text;
  while (rest && lines.length < limit) {
    const fits = lines.length === limit - 1 ? "" : fitting(c, rest, width);
    lines.push(fits || clip(c, rest, width, 0));
    rest = fits ? rest.slice(fits.length).trimStart() : "";
  }
  return lines;
}

/** As many words of a text's beginning as fit; empty if all do, or not even the first does. */
function fitting(c: Pen, text: string, width: number): string {
  if (c.measureText(text).width <= width) return "";
  for (let at = text.lastIndexOf(" "); at > 0; at = text.lastIndexOf(" ", at - 1)) {
    if (c.measureText(text.slice(0, at)).width <= width) return text.slice(0, at);
  }
  return "";
}

const NOTE_COLOURS: Record<number, (palette: Palette) => string> = {
  [Verdict.REJECTED]: (palette) => palette.rejectedInk,
  [Verdict.HELD]: (palette) => palette.nominatedInk,
};

export function drawBar(
  c: Pen,
  palette: Palette,
  bar: NodeCard["bars"][number],
  x: number,
  y: number,
  width: number,
  labelled: boolean,
): void {
  const label = labelled ? 36 : 0;
  const value = labelled && width >= VALUES_FROM ? 74 : 0;
  const track = width - label - value;
  const height = labelled ? 6 : 4;
  const top = labelled ? y + 5 : y;
  if (labelled) {
    c.font = `11px ${palette.font}`;
    c.textBaseline = "top";
    c.fillStyle = palette.ink2;
    c.fillText(clip(c, shortResource(bar.resource), label - 4), x, y + 2);
  }
  if (value) {
    c.textAlign = "right";
    c.fillText(clip(c, fraction(bar.resource, bar.requested, bar.allocatable), value - 6), x + width, y + 2);
    c.textAlign = "left";
  }
  const share = (amount: number): number =>
    bar.allocatable > 0 ? Math.min(1, amount / bar.allocatable) : amount > 0 ? 1 : 0;
  c.fillStyle = palette.line;
  c.fillRect(x + label, top, track, height);
  c.fillStyle = palette.ink3;
  c.fillRect(x + label, top, track * share(bar.requested), height);
  if (bar.held) drawHeld(c, palette, bar, x + label, top, track, height);
  if (!bar.adds) return;
  const from = track * share(bar.requested - bar.adds);
  c.fillStyle = palette.chosen;
  c.fillRect(x + label + from, top, Math.max(2, track * share(bar.requested) - from), height);
}

/** Room that nominated pods have not taken yet, as a dashed outline behind what is taken. */
function drawHeld(
  c: Pen,
  palette: Palette,
  { requested, held, allocatable }: NodeCard["bars"][number],
  x: number,
  y: number,
  track: number,
  height: number,
): void {
  const share = (amount: number): number => (allocatable > 0 ? Math.min(1, amount / allocatable) : 1);
  // Where victims still take the room that is held for their preemptor, the outline goes over them.
  const end = share(requested + held);
  const from = Math.max(0, end - share(held));
  c.save();
  c.strokeStyle = palette.nominatedInk;
  c.lineWidth = 1.5;
  c.setLineDash([3, 2]);
  c.strokeRect(x + track * from + 0.75, y - 0.75, Math.max(3, track * (end - from) - 1.5), height + 1.5);
  c.restore();
}

function drawPods(c: Pen, palette: Palette, card: NodeCard, x: number, y: number, width: number, height: number): void {
  const lists = width >= LISTED_FROM && height >= ROW * Math.min(card.pods.length, 3);
  if (lists) return listPods(c, palette, card, x, y, width, height);
  const size = 11;
  const perLine = Math.floor((width + 3) / (size + 3));
  const lines = Math.floor((height + 3) / (size + 3));
  const room = perLine * lines;
  if (room < 1) return;
  const shown = card.pods.length > room ? card.pods.slice(0, Math.max(0, room - 3)) : card.pods;
  shown.forEach((pod, i) => {
    const left = x + (i % perLine) * (size + 3);
    const top = y + Math.floor(i / perLine) * (size + 3);
    const side = sideOf(pod, size);
    drawPod(c, palette, pod.kind, left + (size - side) / 2, top + (size - side) / 2, side);
  });
  if (shown.length === card.pods.length) return;
  c.font = `10px ${palette.font}`;
  c.fillStyle = palette.ink2;
  const i = shown.length;
  c.fillText(`+${card.nPods - i}`, x + (i % perLine) * (size + 3), y + Math.floor(i / perLine) * (size + 3));
}

/** Pods by name, as many as there is room for; the pod at hand and victims first. */
function listPods(c: Pen, palette: Palette, card: NodeCard, x: number, y: number, width: number, height: number): void {
  const room = Math.floor(height / ROW);
  const shown = card.pods.length > room ? card.pods.slice(0, room - 1) : card.pods;
  c.font = `11px ${palette.font}`;
  c.textBaseline = "top";
  shown.forEach((pod, i) => {
    const side = sideOf(pod, 11);
    drawPod(c, palette, pod.kind, x + (11 - side) / 2, y + i * ROW + 1 + (11 - side) / 2, side);
    c.fillStyle = pod.kind === "pod" ? palette.ink2 : palette.ink;
    c.fillText(clip(c, pod.name, width - 16), x + 15, y + i * ROW + 1);
  });
  if (shown.length === card.pods.length) return;
  c.fillStyle = palette.ink3;
  c.fillText(`+${card.nPods - shown.length}`, x + 15, y + shown.length * ROW + 1);
}

export function drawPod(c: Pen, palette: Palette, pod: PodBlock, x: number, y: number, size: number): void {
  const colours: Record<PodBlock, string> = {
    pod: palette.lineStrong,
    incoming: palette.chosen,
    victim: palette.victim,
    selected: palette.focus,
    nominated: palette.nominatedInk,
  };
  if (pod === "nominated") {
    c.save();
    c.strokeStyle = colours[pod];
    c.lineWidth = 1.5;
    c.setLineDash([2, 1.5]);
    c.strokeRect(x + 0.75, y + 0.75, size - 1.5, size - 1.5);
    c.restore();
    return;
  }
  c.fillStyle = colours[pod];
  c.fillRect(x, y, size, size);
  if (pod !== "victim") return;
  c.strokeStyle = palette.surface;
  c.lineWidth = 1.5;
  c.beginPath();
  c.moveTo(x + 1, y + size - 1);
  c.lineTo(x + size - 1, y + 1);
  c.stroke();
}
