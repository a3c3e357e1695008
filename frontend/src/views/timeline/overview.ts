// The whole run as a strip: how cycles ended, how many pods waited, and where preemption happened.

import type { Cycle } from "../../base/units.ts";
import type { Palette } from "../../base/palette.ts";
import type { Pen } from "../../base/pen.ts";
import type { Chronicle } from "../../store/chronicle.ts";
import { Result } from "../../wire/events.ts";

export interface Strip {
  readonly width: number;
  readonly height: number;
}

/** Room above the bars for flags and bookmarks. */
const TOP = 15;

interface Bucket {
  placed: number;
  failed: number;
  error: number;
  other: number;
  preempted: number;
  waiting: number;
}

/** Which cycles a pixel column stands for. */
export const cycleAt = (x: number, width: number, nCycles: number): number =>
  Math.max(1, Math.min(nCycles, Math.round((x / Math.max(1, width - 1)) * (nCycles - 1)) + 1));

export const xOf = (cycle: Cycle, width: number, nCycles: number): number =>
  nCycles <= 1 ? 0 : ((Math.max(1, cycle) - 1) / (nCycles - 1)) * (width - 1);

/** Bars stand apart while cycles are few; then each sums up the same number of them. */
function bars(nCycles: number, width: number): { each: number; step: number; bar: number } {
  const each = Math.ceil(nCycles / (width / 2));
  const n = Math.ceil(nCycles / each);
  const step = n > 1 ? (width - 1) / (n - 1) : width;
  return { each, step, bar: step < 4 ? step : Math.min(14, step - 1) };
}

export function drawOverview(c: Pen, chronicle: Chronicle, palette: Palette, strip: Strip): void {
  const { width, height } = strip;
  c.fillStyle = palette.surface;
  c.fillRect(0, 0, width, height);
  if (!chronicle.nCycles) return;
  const { each, step, bar } = bars(chronicle.nCycles, width);
  const buckets = fill(chronicle, each);
  const most = Math.max(1, ...buckets.map((b) => b.placed + b.failed + b.error + b.other));
  const base = height - 9;
  const left = (i: number): number => Math.max(0, Math.min(width - bar, i * step - bar / 2));
  buckets.forEach((bucket, i) => {
    let y = base;
    const part = (count: number, colour: string, hatched: boolean): void => {
      if (!count) return;
      const h = Math.max(1.5, (count / most) * (base - TOP));
      c.fillStyle = colour;
      c.fillRect(left(i), y - h, bar, h);
      if (hatched) lines(c, palette.surface, left(i), y - h, bar, h);
      y -= h;
    };
    part(bucket.placed, palette.feasible, false);
    part(bucket.failed, palette.rejected, true);
    part(bucket.error, palette.ink, false);
    part(bucket.other, palette.unexamined, false);
    if (bucket.preempted) triangle(c, palette.victim, left(i) + bar / 2, height - 7);
  });
  drawWaiting(c, buckets, palette, (i) => left(i) + bar / 2, base);
}

function lines(c: Pen, colour: string, x: number, y: number, w: number, h: number): void {
  c.fillStyle = colour;
  for (let at = y + 2; at < y + h - 0.5; at += 4) c.fillRect(x, at, w, 1);
}

function triangle(c: Pen, colour: string, x: number, y: number): void {
  c.fillStyle = colour;
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x + 4, y + 6);
  c.lineTo(x - 4, y + 6);
  c.fill();
}

function drawWaiting(c: Pen, buckets: Bucket[], palette: Palette, x: (i: number) => number, base: number): void {
  const most = Math.max(...buckets.map((b) => b.waiting));
  if (!most) return;
  c.strokeStyle = palette.ink2;
  c.lineWidth = 1.5;
  c.lineJoin = "round";
  c.beginPath();
  buckets.forEach((bucket, i) => {
    if (bucket.waiting < 0) return;
    c.lineTo(x(i), base - (bucket.waiting / most) * (base - TOP));
  });
  c.stroke();
}

function fill(chronicle: Chronicle, each: number): Bucket[] {
  const n = Math.ceil(chronicle.nCycles / each);
  const buckets = Array.from({ length: n }, (): Bucket => ({
    placed: 0,
    failed: 0,
    error: 0,
    other: 0,
    preempted: 0,
    waiting: -1,
  }));
  for (let cycle = 1; cycle <= chronicle.nCycles; cycle++) {
    const bucket = buckets[Math.floor((cycle - 1) / each)]!;
    const result = chronicle.result.at(cycle);
    if (result === Result.SCHEDULED || result === Result.WAITING) bucket.placed++;
    else if (result === Result.UNSCHEDULABLE) bucket.failed++;
    else if (result === Result.ERROR || result === Result.BIND_ERROR) bucket.error++;
    else bucket.other++;
    bucket.preempted += chronicle.preempted.at(cycle);
    bucket.waiting = chronicle.waiting.at(cycle);
  }
  return buckets;
}
