// The names of the map's groups, written once and copied from then on. They are written apart from
// the page: text on a canvas of the page waits for the page's style.

import type { Palette } from "../../base/palette.ts";
import type { Pen } from "../../base/pen.ts";
import { HEADER } from "./layout.ts";
import { clip } from "./clip.ts";

export interface Caption {
  readonly canvas: OffscreenCanvas;
  /** Of what is written, in the scene's units. */
  readonly width: number;
}

/** Captions in one palette and scale. */
export class Captions {
  private readonly made = new Map<string, Caption>();
  private readonly ruler = new OffscreenCanvas(1, 1).getContext("2d")!;

  constructor(
    private readonly palette: Palette,
    private readonly scale: number,
  ) {}

  get(text: string, width: number): Caption {
    const key = `${Math.round(width)}|${text}`;
    const known = this.made.get(key);
    if (known) return known;
    const caption = this.make(text, width);
    this.made.set(key, caption);
    return caption;
  }

  private make(text: string, room: number): Caption {
    const width = Math.max(1, writeCaption(this.ruler, this.palette, text, room));
    const canvas = new OffscreenCanvas(Math.ceil(width * this.scale), Math.ceil(HEADER * this.scale));
    const pen = canvas.getContext("2d", { alpha: false })!;
    pen.scale(this.scale, this.scale);
    pen.fillStyle = this.palette.sunken;
    pen.fillRect(0, 0, width + 1, HEADER);
    writeCaption(pen, this.palette, text, room);
    return { canvas, width };
  }
}

/** Write a group's name at the origin, shortened to the room there is; return its width. */
export function writeCaption(pen: Pen, palette: Palette, text: string, room: number): number {
  pen.font = `600 12px ${palette.font}`;
  pen.textBaseline = "middle";
  pen.fillStyle = palette.ink2;
  const short = clip(pen, text, room);
  pen.fillText(short, 0, HEADER / 2 + 1);
  return pen.measureText(short).width;
}
