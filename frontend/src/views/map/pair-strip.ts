// Where two runs differ, along their timeline: whole lines where an attempt came to another end, upper halves for
// attempts that only A makes there, lower halves for B's; a flag where they part.

import type { Palette } from "../../base/palette.ts";
import type { Pen } from "../../base/pen.ts";
import type { Pair } from "../../store/pair/pair.svelte.ts";

const FLAG = 5;
const LEAST_LINE = 1.5;

export function drawStrip(c: Pen, palette: Palette, pair: Pair, width: number, height: number): void {
  const { places, differing, parting } = pair;
  const step = width / Math.max(1, places.length - 1);
  const top = FLAG;
  const tall = height - FLAG;
  c.fillStyle = palette.sunken;
  c.fillRect(0, top, width, tall);
  const line = Math.max(LEAST_LINE, Math.min(6, step * 0.6));
  for (const place of differing) {
    const { tried } = places[place]!;
    const x = place * step - line / 2;
    c.fillStyle = tried === "both" ? palette.ink2 : palette.victim;
    c.fillRect(x, top + (tried === "b" ? tall / 2 : 0), line, tried === "a" || tried === "b" ? tall / 2 : tall);
  }
  if (parting < 0) return;
  const x = parting * step;
  c.fillStyle = palette.ink;
  c.beginPath();
  c.moveTo(x - FLAG, 0);
  c.lineTo(x + FLAG, 0);
  c.lineTo(x, FLAG + 2);
  c.fill();
}
