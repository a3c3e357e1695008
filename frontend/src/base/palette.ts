// The design's colours for canvases, read from the same CSS tokens as everything else.

const TOKENS = {
  surface: "--k-surface",
  sunken: "--k-sunken",
  line: "--k-line",
  lineStrong: "--k-line-strong",
  ink: "--k-ink",
  ink2: "--k-ink-2",
  ink3: "--k-ink-3",
  focus: "--k-focus",
  feasible: "--k-feasible",
  feasibleWash: "--k-feasible-wash",
  feasibleInk: "--k-feasible-ink",
  rejected: "--k-rejected",
  rejectedWash: "--k-rejected-wash",
  rejectedInk: "--k-rejected-ink",
  chosen: "--k-chosen",
  chosenWash: "--k-chosen-wash",
  chosenInk: "--k-chosen-ink",
  nominated: "--k-nominated",
  nominatedWash: "--k-nominated-wash",
  nominatedInk: "--k-nominated-ink",
  victim: "--k-victim",
  victimInk: "--k-victim-ink",
  unexamined: "--k-unexamined",
  unexaminedWash: "--k-unexamined-wash",
  unevaluated: "--k-unevaluated",
} as const;

export type Palette = Record<keyof typeof TOKENS, string> & {
  readonly font: string;
  /** Cividis, low to high. */
  readonly scale: readonly string[];
};

const SCALE_STEPS = 10;
/** How many colours a scale is cut into; enough to look continuous. */
export const SCALE_COLOURS = 60;

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const read = (token: string): string => style.getPropertyValue(token).trim();
  const colours = Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name, read(token)])) as Record<
    keyof typeof TOKENS,
    string
  >;
  const stops = Array.from({ length: SCALE_STEPS }, (_, i) => read(`--k-score-${i}`));
  return { ...colours, font: read("--k-font"), scale: interpolated(stops) };
}

function interpolated(stops: string[]): string[] {
  const rgb = stops.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  return Array.from({ length: SCALE_COLOURS }, (_, i) => {
    const at = (i / (SCALE_COLOURS - 1)) * (rgb.length - 1);
    const low = rgb[Math.floor(at)]!;
    const high = rgb[Math.min(rgb.length - 1, Math.floor(at) + 1)]!;
    const mix = low.map((value, c) => Math.round(value + (high[c]! - value) * (at % 1)));
    return `rgb(${mix.join(" ")})`;
  });
}

/** Call back when the colours change: another theme, by button or by system. */
export function onThemeChange(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", changed);
  };
}
