// The charts of an experiment: a line for each pool. The tables beside them have the numbers.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { onThemeChange, readPalette, type Palette } from "../../base/palette.ts";

/** Lines over common places, in per cent; a value for each place. */
export interface Lines {
  readonly axis: string;
  readonly places: readonly number[];
  readonly values: Readonly<Record<string, readonly number[]>>;
}

const HEIGHT = 260;
/** Whole numbers only, for pods and variants are. */
const STEPS = [1, 2, 5].flatMap((step) => [step, 10 * step, 100 * step, 1000 * step]).sort((a, b) => a - b);
const LINE_COLOURS = ["feasible", "rejected", "nominated", "chosen", "ink2", "victim"] as const;
const DASHES = [[], [8, 4], [2, 4]];

/** Draw into a place, as wide as it is, now and whenever that or the theme changes. */
export function drawChart(place: HTMLElement, lines: Lines): void {
  place.hidden = false;
  let drawn = made(place, lines);
  const watch = new ResizeObserver(() => {
    if (!place.isConnected) watch.disconnect();
    else if (drawn.width !== place.clientWidth) drawn.setSize({ width: place.clientWidth, height: HEIGHT });
  });
  watch.observe(place);
  const forget = onThemeChange(() => {
    drawn.destroy();
    if (place.isConnected) drawn = made(place, lines);
    else forget();
  });
}

function axisIn(colours: Palette): uPlot.Axis {
  return {
    stroke: colours.ink2,
    grid: { stroke: colours.line, width: 1 },
    ticks: { stroke: colours.line, width: 1 },
    font: `12px ${colours.font}`,
    incrs: STEPS,
  };
}

function made(place: HTMLElement, lines: Lines): uPlot {
  const colours = readPalette(place);
  const names = Object.keys(lines.values);
  const axis = axisIn(colours);
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      scales: { x: { time: false }, y: { range: (_, least) => [Math.min(0, least), 100] } },
      axes: [
        { ...axis, grid: { show: false }, label: lines.axis, labelFont: `12px ${colours.font}` },
        { ...axis, values: (_, shares) => shares.map((share) => `${share} %`) },
      ],
      series: [
        { label: lines.axis },
        ...names.map((label, index) => ({
          label,
          stroke: colours[LINE_COLOURS[index % LINE_COLOURS.length]!],
          width: 2,
          dash: DASHES[Math.floor(index / LINE_COLOURS.length) % DASHES.length]!,
          points: { show: false },
          value: (_: uPlot, share: number | null) => (share === null ? "" : `${share} %`),
        })),
      ],
      legend: { live: false },
    },
    [[...lines.places], ...names.map((name) => [...(lines.values[name] ?? [])])],
    place,
  );
}
