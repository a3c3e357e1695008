// A text in the room there is for it.

import type { Pen } from "../../base/pen.ts";

const widths = new Map<string, string>();

/** Shorten a text, names in the middle: those of one family differ at the end. */
export function clip(c: Pen, text: string, width: number, end = 0.6): string {
  const key = `${c.font}|${Math.round(width)}|${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  let short = text;
  for (let keep = text.length - 1; keep > 1 && c.measureText(short).width > width; keep--) {
    const tail = Math.ceil(keep * end);
    short = `${text.slice(0, keep - tail)}…${text.slice(text.length - tail)}`;
  }
  if (widths.size > 20_000) widths.clear();
  widths.set(key, short);
  return short;
}
