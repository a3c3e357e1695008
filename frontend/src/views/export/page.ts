// A picture with what belongs around it on paper: whose run, which moment, and what the signs mean.

import type { Palette } from "../../base/palette.ts";
import { LEGEND_HEIGHT, type Pen, type Picture, type Stamp } from "../../base/pen.ts";
import { SvgPen, type Ruler } from "../../base/svg.ts";

export interface Caption {
  readonly title: string;
  /** Where in the run: cycle, point, plugin, time. */
  readonly place: string;
  /** What happens there, in a sentence. */
  readonly story: string;
}

interface Line {
  readonly text: string;
  readonly font: string;
  readonly colour: string;
  readonly height: number;
}

interface Placed {
  readonly x: number;
  readonly y: number;
}

/** Pixels of a picture for one of the screen. */
export const PNG_SCALE = 2;
const PAD = 16;
const GAP = 12;
const SIGN_GAP = 6;

export class CaptionedPicture {
  readonly width: number;
  readonly height: number;
  private readonly head: readonly Line[];
  private readonly foot: readonly Line[];
  private readonly places: readonly Placed[];
  private readonly legendTop: number;
  private readonly footTop: number;

  constructor(
    private readonly picture: Picture,
    private readonly caption: Caption,
    private readonly palette: Palette,
    ruler: Ruler,
  ) {
    this.width = Math.max(picture.width, 320) + 2 * PAD;
    this.head = this.headLines(ruler);
    this.foot = this.footLines();
    this.legendTop = PAD + heightOf(this.head) + GAP + picture.height + GAP;
    this.places = this.arrange(ruler);
    const rows = this.places.length ? this.places.at(-1)!.y + LEGEND_HEIGHT : 0;
    this.footTop = this.legendTop + (rows ? rows + GAP : 0);
    this.height = this.footTop + heightOf(this.foot) + PAD;
  }

  draw(pen: Pen, stamp: Stamp): void {
    const { palette, picture } = this;
    pen.fillStyle = palette.surface;
    pen.fillRect(0, 0, this.width, this.height);
    this.write(pen, this.head, PAD);
    pen.save();
    pen.translate(PAD, PAD + heightOf(this.head) + GAP);
    picture.draw(pen, stamp);
    pen.restore();
    picture.legend.forEach((item, i) => {
      const { x, y } = this.places[i]!;
      pen.save();
      pen.translate(x, this.legendTop + y);
      pen.save();
      item.draw(pen);
      pen.restore();
      this.write(pen, [this.line(item.text, 12, palette.ink2, LEGEND_HEIGHT)], 0, item.width + SIGN_GAP);
      pen.restore();
    });
    this.write(pen, this.foot, this.footTop);
  }

  svg(ruler: Ruler): string {
    const pen = new SvgPen(ruler);
    this.draw(pen, pen.stamp);
    return pen.document(this.width, this.height, `${this.caption.title}, ${this.caption.place}`);
  }

  private write(pen: Pen, lines: readonly Line[], top: number, left = PAD): void {
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    let y = top;
    for (const { text, font, colour, height } of lines) {
      pen.font = font;
      pen.fillStyle = colour;
      pen.fillText(text, left, y + height / 2);
      y += height;
    }
  }

  private headLines(ruler: Ruler): Line[] {
    const { title, place, story } = this.caption;
    const { ink, ink2 } = this.palette;
    ruler.font = this.line("", 13, ink, 0).font;
    const told = wrapped(ruler, story, this.width - 2 * PAD);
    return [
      this.line(title, 15, ink, 22, 600),
      this.line(place, 12, ink2, 18),
      ...told.map((text) => this.line(text, 13, ink, 19)),
    ];
  }

  private footLines(): Line[] {
    const { note } = this.picture;
    return [this.line(note ? `${note} · kviz` : "kviz", 11, this.palette.ink3, 16)];
  }

  private line(text: string, size: number, colour: string, height: number, weight = 400): Line {
    return { text, colour, height, font: `${weight} ${size}px ${this.palette.font}` };
  }

  /** Signs of the legend side by side, as many to a row as fit. */
  private arrange(ruler: Ruler): Placed[] {
    ruler.font = this.line("", 12, "", 0).font;
    let x = PAD;
    let y = 0;
    return this.picture.legend.map(({ text, width }) => {
      const whole = width + SIGN_GAP + ruler.measureText(text).width;
      if (x > PAD && x + whole > this.width - PAD) {
        x = PAD;
        y += LEGEND_HEIGHT + SIGN_GAP;
      }
      const place = { x, y };
      x += whole + GAP + SIGN_GAP;
      return place;
    });
  }
}

const heightOf = (lines: readonly Line[]): number => lines.reduce((sum, line) => sum + line.height, 0);

/** Words in lines no wider than `width`. */
function wrapped(ruler: Ruler, text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ").filter(Boolean)) {
    const longer = lines.length ? `${lines.at(-1)!} ${word}` : word;
    if (lines.length && ruler.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
