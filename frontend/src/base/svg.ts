// A pen that writes SVG: real shapes and texts, for print and for editing. It knows what `Pen` asks
// for and nothing more.

import type { Pen, Stamp } from "./pen.ts";

type Fill = string | CanvasGradient | CanvasPattern;

/** What `save` keeps and `restore` brings back. */
interface Style {
  fillStyle: Fill;
  strokeStyle: Fill;
  lineWidth: number;
  lineCap: CanvasLineCap;
  lineJoin: CanvasLineJoin;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dash: readonly number[];
  x: number;
  y: number;
  /** How many groups are open that a clip began. */
  clips: number;
}

const PLAIN: Style = {
  fillStyle: "#000",
  strokeStyle: "#000",
  lineWidth: 1,
  lineCap: "butt",
  lineJoin: "miter",
  globalAlpha: 1,
  font: "10px sans-serif",
  textAlign: "start",
  textBaseline: "alphabetic",
  dash: [],
  x: 0,
  y: 0,
  clips: 0,
};

/** Measures texts as a canvas does. */
export type Ruler = Pick<CanvasRenderingContext2D, "font" | "textBaseline" | "measureText">;

export class SvgPen implements Pen {
  private style: Style = { ...PLAIN };
  private readonly saved: Style[] = [];
  private readonly out: string[] = [];
  private readonly defs = new Map<string, string>();
  private path = "";
  private clips = 0;

  constructor(private readonly ruler: Ruler) {}

  /** The whole document. */
  document(width: number, height: number, title: string): string {
    while (this.saved.length) this.restore();
    const size = `width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}"`;
    const open = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`;
    const defs = this.defs.size ? `<defs>${[...this.defs.values()].join("")}</defs>` : "";
    const closing = "</g>".repeat(this.style.clips);
    return `${open}<title>${escaped(title)}</title>${defs}${this.out.join("")}${closing}</svg>\n`;
  }

  /** Define a thing when it first occurs, and refer to it from then on. */
  readonly stamp: Stamp = (name, x, y, draw) => {
    const id = name.replace(/[^\w-]/g, "_");
    if (!this.defs.has(id)) {
      const inner = new SvgPen(this.ruler);
      inner.clips = 1e6 * (this.defs.size + 1); // its clips have names of their own
      draw(inner);
      while (inner.saved.length) inner.restore();
      for (const [key, value] of inner.defs) this.defs.set(key, value);
      this.defs.set(id, `<g id="${id}">${inner.out.join("")}${"</g>".repeat(inner.style.clips)}</g>`);
    }
    this.out.push(`<use href="#${id}" x="${n(x + this.style.x)}" y="${n(y + this.style.y)}"/>`);
  };

  save(): void {
    this.saved.push({ ...this.style });
  }

  restore(): void {
    const before = this.saved.pop();
    if (!before) return;
    this.out.push("</g>".repeat(this.style.clips - before.clips));
    this.style = before;
  }

  translate(x: number, y: number): void {
    this.style.x += x;
    this.style.y += y;
  }

  setLineDash(dash: Iterable<number>): void {
    this.style.dash = [...dash];
  }

  // ---------------------------------------------------------------- shapes

  fillRect(x: number, y: number, w: number, h: number): void {
    this.out.push(`<rect ${this.box(x, y, w, h)}${this.filling}/>`);
  }

  strokeRect(x: number, y: number, w: number, h: number): void {
    this.out.push(`<rect ${this.box(x, y, w, h)} fill="none"${this.line}/>`);
  }

  beginPath(): void {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${this.at(x, y)}`;
  }

  /** The first point of a path moves there, as on a canvas. */
  lineTo(x: number, y: number): void {
    this.path += `${this.path ? "L" : "M"}${this.at(x, y)}`;
  }

  rect(x: number, y: number, w: number, h: number): void {
    this.path += `M${this.at(x, y)}h${n(w)}v${n(h)}h${n(-w)}z`;
  }

  roundRect(
    x: number,
    y: number,
    w: number,
    h: number,
    radii?: number | DOMPointInit | Iterable<number | DOMPointInit>,
  ): void {
    const r = Math.min(typeof radii === "number" ? radii : 0, w / 2, h / 2);
    const corner = (dx: number, dy: number): string => `a${n(r)} ${n(r)} 0 0 1 ${n(dx)} ${n(dy)}`;
    this.path +=
      `M${this.at(x + r, y)}h${n(w - 2 * r)}${corner(r, r)}v${n(h - 2 * r)}${corner(-r, r)}` +
      `h${n(2 * r - w)}${corner(-r, -r)}v${n(2 * r - h)}${corner(r, -r)}z`;
  }

  fill(): void {
    this.out.push(`<path d="${this.path}"${this.filling}/>`);
  }

  stroke(): void {
    this.out.push(`<path d="${this.path}" fill="none"${this.line}/>`);
  }

  clip(): void {
    const id = `clip${++this.clips}`;
    this.defs.set(id, `<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.out.push(`<g clip-path="url(#${id})">`);
    this.style.clips++;
  }

  // ---------------------------------------------------------------- text

  fillText(text: string, x: number, y: number): void {
    const anchor = { right: "end", end: "end", center: "middle" }[this.style.textAlign as string];
    const end = anchor ? ` text-anchor="${anchor}"` : "";
    const font = escaped(this.style.font.replace(/\s+/g, " "));
    const place = `x="${n(x + this.style.x)}" y="${n(y + this.style.y + this.drop())}"`;
    const look = `style="font:${font}" xml:space="preserve"${end}${this.filling}`;
    this.out.push(`<text ${place} ${look}>${escaped(text)}</text>`);
  }

  measureText(text: string): TextMetrics {
    this.ruler.font = this.style.font;
    return this.ruler.measureText(text);
  }

  /** How far below the place that was given the letters stand: viewers disagree on any other baseline. */
  private drop(): number {
    if (this.style.textBaseline === "alphabetic") return 0;
    this.ruler.font = this.style.font;
    this.ruler.textBaseline = this.style.textBaseline;
    const { alphabeticBaseline } = this.ruler.measureText("x");
    this.ruler.textBaseline = "alphabetic";
    return -alphabeticBaseline;
  }

  // ---------------------------------------------------------------- the state of a canvas

  private at = (x: number, y: number): string => `${n(x + this.style.x)} ${n(y + this.style.y)}`;

  private box(x: number, y: number, w: number, h: number): string {
    const size = `width="${n(Math.max(0, w))}" height="${n(Math.max(0, h))}"`;
    return `x="${n(x + this.style.x)}" y="${n(y + this.style.y)}" ${size}`;
  }

  private get filling(): string {
    const { fillStyle, globalAlpha } = this.style;
    return ` fill="${colour(fillStyle)}"${globalAlpha < 1 ? ` fill-opacity="${n(globalAlpha)}"` : ""}`;
  }

  private get line(): string {
    const { strokeStyle, lineWidth, lineCap, lineJoin, dash, globalAlpha } = this.style;
    return (
      ` stroke="${colour(strokeStyle)}" stroke-width="${n(lineWidth)}"` +
      (lineCap === "butt" ? "" : ` stroke-linecap="${lineCap}"`) +
      (lineJoin === "miter" ? "" : ` stroke-linejoin="${lineJoin}"`) +
      (dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "") +
      (globalAlpha < 1 ? ` stroke-opacity="${n(globalAlpha)}"` : "")
    );
  }

  get fillStyle(): Fill {
    return this.style.fillStyle;
  }
  set fillStyle(value: Fill) {
    this.style.fillStyle = value;
  }
  get strokeStyle(): Fill {
    return this.style.strokeStyle;
  }
  set strokeStyle(value: Fill) {
    this.style.strokeStyle = value;
  }
  get lineWidth(): number {
    return this.style.lineWidth;
  }
  set lineWidth(value: number) {
    this.style.lineWidth = value;
  }
  get lineCap(): CanvasLineCap {
    return this.style.lineCap;
  }
  set lineCap(value: CanvasLineCap) {
    this.style.lineCap = value;
  }
  get lineJoin(): CanvasLineJoin {
    return this.style.lineJoin;
  }
  set lineJoin(value: CanvasLineJoin) {
    this.style.lineJoin = value;
  }
  get globalAlpha(): number {
    return this.style.globalAlpha;
  }
  set globalAlpha(value: number) {
    this.style.globalAlpha = value;
  }
  get font(): string {
    return this.style.font;
  }
  set font(value: string) {
    this.style.font = value;
  }
  get textAlign(): CanvasTextAlign {
    return this.style.textAlign;
  }
  set textAlign(value: CanvasTextAlign) {
    this.style.textAlign = value;
  }
  get textBaseline(): CanvasTextBaseline {
    return this.style.textBaseline;
  }
  set textBaseline(value: CanvasTextBaseline) {
    this.style.textBaseline = value;
  }
}

/** A number as short as it can be written to a hundredth. */
const n = (value: number): string => String(Math.round(value * 100) / 100);

/** `rgb(1 2 3)` as `#010203`, which every viewer knows. */
function colour(fill: Fill): string {
  if (typeof fill !== "string") throw new TypeError("vectors are filled with plain colours");
  const parts = /^rgb\((\d+)[ ,]+(\d+)[ ,]+(\d+)\)$/.exec(fill);
  if (!parts) return escaped(fill);
  return `#${parts
    .slice(1)
    .map((part) => Number(part).toString(16).padStart(2, "0"))
    .join("")}`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text for XML; characters that XML has no place for are left out. */
function escaped(text: string): string {
  return (
    text
      // eslint-disable-next-line no-control-regex -- these are what has no place
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
      .replace(/[&<>"]/g, (sign) => ENTITIES[sign]!)
  );
}
