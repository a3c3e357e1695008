// The charts of an experiment: a bar for each variant, or a line for each pool. The tables beside them have the
// numbers.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { onThemeChange, readPalette, type Palette } from "../../base/palette.ts";

/** What the page has for a chart of bars; as many names as values. */
export interface Bars {
  readonly kind: "bars";
  readonly title: string;
  readonly axis: string;
  readonly names: readonly string[];
  readonly values: readonly number[];
  readonly colour: "rejected" | "feasible";
}

/** Lines over common places, in per cent; a value for each place. */
export interface Lines {
  readonly kind: "lines";
  readonly axis: string;
  readonly places: readonly number[];
  readonly values: Readonly<Record<string, readonly number[]>>;
}

export type Chart = Bars | Lines;

const HEIGHT = 260;
/** Whole numbers only, for pods and variants are. */
const STEPS = [1, 2, 5].flatMap((step) => [step, 10 * step, 100 * step, 1000 * step]).sort((a, b) => a - b);
const BAR_SHARE = 0.7;
const WIDEST_BAR = 48;
const LINE_COLOURS = ["feasible", "rejected", "nominated", "chosen", "ink2", "victim"] as const;
const DASHES = [[], [8, 4], [2, 4]];

/** Draw into a place, as wide as it is, now and whenever that or the theme changes. */
export function drawChart(place: HTMLElement, chart: Chart): void {
  place.hidden = false;
  let drawn = made(place, chart);
  const watch = new ResizeObserver(() => {
    if (!place.isConnected) watch.disconnect();
    else if (drawn.width !== place.clientWidth) drawn.setSize({ width: place.clientWidth, height: HEIGHT });
  });
  watch.observe(place);
  const forget = onThemeChange(() => {
    drawn.destroy();
    if (place.isConnected) drawn = made(place, chart);
    else forget();
  });
}

function made(place: HTMLElement, chart: Chart): uPlot {
  const colours = readPalette(place);
  return chart.kind === "bars" ? madeOfBars(place, chart, colours) : madeOfLines(place, chart, colours);
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

function madeOfBars(place: HTMLElement, bars: Bars, colours: Palette): uPlot {
  const places = bars.values.map((_, index) => index + 1);
  const axis = axisIn(colours);
  const colour = colours[bars.colour];
  const paths = uPlot.paths.bars?.({ size: [BAR_SHARE, WIDEST_BAR] });
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      scales: {
        x: { time: false, range: [0.5, places.length + 0.5] },
        y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] },
      },
      axes: [{ ...axis, grid: { show: false } }, axis],
      series: [
        { label: bars.axis, value: (_, place) => bars.names[place - 1] ?? "" },
        { label: bars.title, stroke: colour, fill: colour, ...(paths ? { paths } : {}), points: { show: false } },
      ],
      legend: { live: true },
    },
    [places, [...bars.values]],
    place,
  );
}

function madeOfLines(place: HTMLElement, lines: Lines, colours: Palette): uPlot {
  const names = Object.keys(lines.values);
  const axis = axisIn(colours);
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      scales: { x: { time: false }, y: { range: (_, least) => [Math.min(0, least), 100] } },
      axes: [
        { ...axis, grid: { show: false } },
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
      legend: { live: true },
    },
    [[...lines.places], ...names.map((name) => [...(lines.values[name] ?? [])])],
    place,
  );
}
