// A bar for each variant, in the order of the table below it, which has the same numbers.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { onThemeChange, readPalette } from "../../base/palette.ts";

/** What the page has for the chart; as many names as values. */
export interface Bars {
  readonly title: string;
  readonly axis: string;
  readonly names: readonly string[];
  readonly values: readonly number[];
}

const HEIGHT = 260;
/** Whole numbers only, for pods and variants are. */
const STEPS = [1, 2, 5].flatMap((step) => [step, 10 * step, 100 * step, 1000 * step]).sort((a, b) => a - b);
const BAR_SHARE = 0.7;
const WIDEST_BAR = 48;

/** Draw the bars into a place, as wide as it is, now and whenever that or the theme changes. */
export function drawBars(place: HTMLElement, bars: Bars): void {
  place.hidden = false;
  let chart = made(place, bars);
  const watch = new ResizeObserver(() => {
    if (!place.isConnected) watch.disconnect();
    else if (chart.width !== place.clientWidth) chart.setSize({ width: place.clientWidth, height: HEIGHT });
  });
  watch.observe(place);
  const forget = onThemeChange(() => {
    chart.destroy();
    if (place.isConnected) chart = made(place, bars);
    else forget();
  });
}

function made(place: HTMLElement, bars: Bars): uPlot {
  const colours = readPalette(place);
  const places = bars.values.map((_, index) => index + 1);
  const axis: uPlot.Axis = {
    stroke: colours.ink2,
    grid: { stroke: colours.line, width: 1 },
    ticks: { stroke: colours.line, width: 1 },
    font: `12px ${colours.font}`,
  };
  const paths = uPlot.paths.bars?.({ size: [BAR_SHARE, WIDEST_BAR] });
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      scales: {
        x: { time: false, range: [0.5, places.length + 0.5] },
        y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] },
      },
      axes: [
        { ...axis, incrs: STEPS, grid: { show: false } },
        { ...axis, incrs: STEPS },
      ],
      series: [
        { label: bars.axis, value: (_, place) => bars.names[place - 1] ?? "" },
        {
          label: bars.title,
          stroke: colours.rejected,
          fill: colours.rejected,
          ...(paths ? { paths } : {}),
          points: { show: false },
        },
      ],
      legend: { live: true },
    },
    [places, [...bars.values]],
    place,
  );
}
