// The map as it stands, to be drawn apart from the screen.

import type { Palette } from "../../base/palette.ts";
import { LEGEND_HEIGHT, type LegendItem, type Picture } from "../../base/pen.ts";
import "../../base/text/late.ts";
import { number, t, type TextKey } from "../../base/text/text.ts";
import type { Explorer } from "../../store/explorer.ts";
import type { Measure } from "../../store/nodes.ts";
import { Verdict } from "../../store/verdicts.ts";
import { LEGEND, scaleEnd, scaleName } from "./signs.ts";
import { drawScene, type Scene, type Viewport } from "./paint.ts";
import { drawLook, lookOf, NO_VALUE } from "./sprites.ts";

export interface MapShown {
  readonly scene: Scene;
  readonly view: Omit<Viewport, "scale">;
  readonly explorer: Explorer;
  readonly measure: Measure;
  /** Nodes by verdict. */
  readonly counts: readonly number[];
}

const SCALE_WIDTH = 120;

export function mapPicture({ scene, view, explorer, measure, counts }: MapShown): Picture {
  const { palette } = scene;
  const signs = LEGEND.filter((verdict) => counts[verdict]).map((verdict) =>
    signOf(palette, verdict, counts[verdict]!),
  );
  const { group, query } = explorer.display.map;
  const said = [
    t("picture.group", {
      by: group.startsWith("label:") ? group.slice("label:".length) : t(`map.group.${group}` as TextKey),
    }),
    query && t("picture.query", { query }),
  ];
  return {
    width: view.width,
    height: view.height,
    draw: (pen, stamp) => drawScene(pen, stamp, scene, view),
    legend: [...(measure.values ? [scaleOf(palette, measure)] : []), ...(explorer.navigation.record ? signs : [])],
    note: said.filter(Boolean).join(", "),
  };
}

function signOf(palette: Palette, verdict: Verdict, n: number): LegendItem {
  const cell = { width: LEGEND_HEIGHT, height: LEGEND_HEIGHT, gap: 0 };
  return {
    text: `${t(`verdict.${verdict}` as TextKey)} ${number(n)}`,
    width: LEGEND_HEIGHT,
    draw: (pen) => drawLook(pen, palette, cell, lookOf(verdict, NO_VALUE, false)),
  };
}

/** The colours of a scale, and the values at its ends. */
function scaleOf({ scale }: Palette, measure: Measure): LegendItem {
  const step = SCALE_WIDTH / scale.length;
  return {
    text: `${scaleName(measure.kind)} ${scaleEnd(measure, measure.low)}-${scaleEnd(measure, measure.high)}`,
    width: SCALE_WIDTH,
    draw: (pen) =>
      scale.forEach((colour, i) => {
        pen.fillStyle = colour;
        pen.fillRect(i * step, 2, step + 0.5, LEGEND_HEIGHT - 4);
      }),
  };
}
