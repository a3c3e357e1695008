// The overview of the whole run, to be drawn apart from the screen.

import type { Cycle } from "../../base/units.ts";
import type { Palette } from "../../base/palette.ts";
import { LEGEND_HEIGHT, type LegendItem, type Pen, type Picture } from "../../base/pen.ts";
import { clock } from "../../base/format.ts";
import "../../base/text/late.ts";
import { t } from "../../base/text/text.ts";
import type { Chronicle } from "../../store/chronicle.ts";
import { drawOverview, xOf, type Strip } from "./overview.ts";

/** Taller than on the screen, where there is never room. */
const HEIGHT = 160;

export function timelinePicture(chronicle: Chronicle, palette: Palette, width: number, cycle: Cycle): Picture {
  const strip: Strip = { width, height: HEIGHT };
  const { nCycles } = chronicle;
  return {
    width,
    height: HEIGHT,
    draw: (pen) => {
      pen.save();
      drawOverview(pen, chronicle, palette, strip);
      pen.fillStyle = palette.ink;
      pen.fillRect(Math.min(width - 2, xOf(cycle, width, nCycles)), 0, 2, HEIGHT);
      pen.restore();
    },
    legend: legend(palette),
    note: t("picture.cycles", {
      n: nCycles,
      time: clock(nCycles ? chronicle.timeMs(chronicle.startSeq.at(nCycles)) : 0),
    }),
  };
}

function legend(palette: Palette): LegendItem[] {
  const block =
    (colour: string) =>
    (pen: Pen): void => {
      pen.fillStyle = colour;
      pen.fillRect(0, 0, LEGEND_HEIGHT, LEGEND_HEIGHT);
    };
  const hatched = (pen: Pen): void => {
    block(palette.rejected)(pen);
    pen.fillStyle = palette.surface;
    for (let y = 2; y < LEGEND_HEIGHT; y += 4) pen.fillRect(0, y, LEGEND_HEIGHT, 1);
  };
  const triangle = (pen: Pen): void => {
    pen.fillStyle = palette.victim;
    pen.beginPath();
    pen.moveTo(7, 2);
    pen.lineTo(12, 11);
    pen.lineTo(2, 11);
    pen.fill();
  };
  const line = (pen: Pen): void => {
    pen.fillStyle = palette.ink2;
    pen.fillRect(0, 6, LEGEND_HEIGHT, 1.5);
  };
  const item = (text: string, draw: (pen: Pen) => void): LegendItem => ({ text, width: LEGEND_HEIGHT, draw });
  return [
    item(t("picture.placed"), block(palette.feasible)),
    item(t("picture.failed"), hatched),
    item(t("picture.error"), block(palette.ink)),
    item(t("tables.preempted"), triangle),
    item(t("picture.waiting"), line),
  ];
}
