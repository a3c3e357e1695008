// What is drawn on the pen is in the document, where it was drawn, and nothing else.

import { describe, expect, test } from "vitest";

import { stampOn, type Pen, type Stamp } from "./pen.ts";
import { SvgPen, type Ruler } from "./svg.ts";

/** Letters six wide; tops stand nine above the line they are written on. */
const ruler: Ruler = {
  font: "",
  textBaseline: "alphabetic",
  measureText(text: string) {
    const alphabeticBaseline = { top: -9, middle: -4 }[this.textBaseline as string] ?? 0;
    return { width: 6 * text.length, alphabeticBaseline } as TextMetrics;
  },
};

function drawn(draw: (pen: Pen, stamp: Stamp) => void): string {
  const pen = new SvgPen(ruler);
  draw(pen, pen.stamp);
  return pen.document(100, 50, "a title");
}

const elements = (svg: string): string[] => [...svg.matchAll(/<[^>]+>/g)].map(([element]) => element);

/** Every element that opens is closed, in order. */
function expectWellFormed(svg: string): void {
  const open: string[] = [];
  for (const element of elements(svg)) {
    const name = /^<\/?([\w]+)/.exec(element)![1]!;
    if (element.startsWith("</")) expect(open.pop()).toBe(name);
    else if (!element.endsWith("/>")) open.push(name);
  }
  expect(open).toEqual([]);
}

describe("a pen that writes SVG", () => {
  test("moves what is drawn by all translations in force, and by none that ended", () => {
    const svg = drawn((pen) => {
      pen.fillStyle = "#ff0000";
      pen.translate(10, 5);
      pen.save();
      pen.translate(1, 1);
      pen.fillStyle = "rgb(1 2 255)";
      pen.fillRect(0, 0, 3, 4);
      pen.restore();
      pen.fillRect(0, 0, 3, 4);
    });
    expect(svg).toContain('<rect x="11" y="6" width="3" height="4" fill="#0102ff"/>');
    expect(svg).toContain('<rect x="10" y="5" width="3" height="4" fill="#ff0000"/>');
    expectWellFormed(svg);
  });

  test("draws lines as they were set, and forgets it at restore", () => {
    const svg = drawn((pen) => {
      pen.save();
      pen.strokeStyle = "#123456";
      pen.lineWidth = 2;
      pen.lineCap = pen.lineJoin = "round";
      pen.setLineDash([3, 2]);
      pen.globalAlpha = 0.5;
      pen.strokeRect(1, 1, 8, 8);
      pen.restore();
      pen.beginPath();
      pen.lineTo(0, 0);
      pen.lineTo(5, 5);
      pen.stroke();
    });
    expect(svg).toContain(
      'stroke="#123456" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" ' +
        'stroke-dasharray="3 2" stroke-opacity="0.5"',
    );
    expect(svg).toContain('<path d="M0 0L5 5" fill="none" stroke="#000" stroke-width="1"/>');
  });

  test("ends a clip where the state before it comes back", () => {
    const svg = drawn((pen) => {
      pen.save();
      pen.beginPath();
      pen.rect(0, 0, 9, 9);
      pen.clip();
      pen.fillRect(0, 0, 1, 1);
      pen.restore();
      pen.fillRect(5, 5, 2, 2);
    });
    expectWellFormed(svg);
    expect(svg).toMatch(/<g clip-path="url\(#clip1\)"><rect x="0"[^>]+><\/g><rect x="5"/);
    expect(svg).toContain('<clipPath id="clip1"><path d="M0 0h9v9h-9z"/></clipPath>');
  });

  test("writes texts on the line they stand on, whatever they were placed by", () => {
    const svg = drawn((pen) => {
      pen.font = '600 12px "Some Font"';
      pen.textBaseline = "top";
      pen.fillText("a < b & \u0001c", 4, 10);
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      pen.fillText("right", 90, 10);
    });
    expect(svg).toContain('<text x="4" y="19" style="font:600 12px &quot;Some Font&quot;"');
    expect(svg).toContain(">a &lt; b &amp; c</text>");
    expect(svg).toMatch(/x="90" y="14"[^>]+text-anchor="end"/);
    expectWellFormed(svg);
  });

  test("defines what recurs once, and shows it wherever it was stamped", () => {
    const cell = (pen: Pen): void => {
      pen.save();
      pen.beginPath();
      pen.rect(0, 0, 4, 4);
      pen.clip();
      pen.fillRect(0, 0, 4, 4);
      pen.restore();
    };
    const svg = drawn((pen, stamp) => {
      pen.translate(1, 0);
      for (let i = 0; i < 3; i++) stamp("look 7", 10 * i, 0, cell);
      stamp("look 8", 0, 20, cell);
    });
    expect(svg.match(/<g id="look_7">/g)).toHaveLength(1);
    expect([...svg.matchAll(/<use href="#look_7" x="(\d+)"/g)].map(([, x]) => x)).toEqual(["1", "11", "21"]);
    const ids = [...svg.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of svg.matchAll(/(?:href="|url\()#(\w+)/g)) expect(ids).toContain(id);
    expectWellFormed(svg);
  });

  test("on a canvas a stamp is drawn in its place", () => {
    const pen = new SvgPen(ruler);
    stampOn(pen)("any", 3, 4, (p) => p.fillRect(0, 0, 1, 1));
    expect(pen.document(9, 9, "")).toContain('<rect x="3" y="4"');
  });
});
