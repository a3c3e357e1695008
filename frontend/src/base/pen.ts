// What drawing code may use of a canvas, so that the same code draws pixels and vectors. Only
// translations: who scales, scales the whole canvas before.

export type Pen = Pick<
  CanvasRenderingContext2D,
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "lineCap"
  | "lineJoin"
  | "globalAlpha"
  | "font"
  | "textAlign"
  | "textBaseline"
  | "save"
  | "restore"
  | "translate"
  | "setLineDash"
  | "fillRect"
  | "strokeRect"
  | "beginPath"
  | "moveTo"
  | "lineTo"
  | "rect"
  | "roundRect"
  | "fill"
  | "stroke"
  | "clip"
  | "fillText"
  | "measureText"
>;

/** Draws a thing that recurs, at a place; vectors define it once, by its name. */
export type Stamp = (name: string, x: number, y: number, draw: (pen: Pen) => void) => void;

/** On a canvas a thing that recurs is drawn each time. */
export const stampOn =
  (pen: Pen): Stamp =>
  (_, x, y, draw) => {
    pen.save();
    pen.translate(x, y);
    draw(pen);
    pen.restore();
  };

/** Something that can be drawn apart from the screen. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  draw(pen: Pen, stamp: Stamp): void;
  /** Signs and what they mean, in order. */
  readonly legend: readonly LegendItem[];
  /** What was grouped, coloured or filtered, in words; empty if nothing. */
  readonly note: string;
}

export interface LegendItem {
  readonly text: string;
  readonly width: number;
  /** Draws into `width` by LEGEND_HEIGHT. */
  draw(pen: Pen): void;
}

export const LEGEND_HEIGHT = 14;
