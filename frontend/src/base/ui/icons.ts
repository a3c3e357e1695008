// Line drawings on a 24 grid, the same as the pages use.

export const ICONS = {
  tick: "M4 12.5 9.5 18 20 6.5",
  cross: "m6 6 12 12M18 6 6 18",
  star: "m12 3.5 2.6 5.6 6.1.7-4.5 4.2 1.2 6-5.4-3-5.4 3 1.2-6-4.5-4.2 6.1-.7z",
  dashed: "M4.5 4.5h15v15h-15z",
  held: "M4.5 4.5h15v15h-15zm4.5 4.5 6 6m0-6-6 6",
  slash: "M3.5 12a8.5 8.5 0 1 0 17 0 8.5 8.5 0 1 0-17 0m3 5.5 11-11",
  dot: "M5.5 12a6.5 6.5 0 1 0 13 0 6.5 6.5 0 1 0-13 0",
  minus: "M5 12h14",
  plus: "M5 12h14M12 5v14",
  clock: "M3.5 12a8.5 8.5 0 1 0 17 0 8.5 8.5 0 1 0-17 0M12 7v5.2l3.4 2",
  play: "M7 4.5v15l12-7.5z",
  pause: "M7.5 5v14M16.5 5v14",
  first: "M6 5v14M19 5.5 9.5 12l9.5 6.5z",
  last: "M18 5v14M5 5.5 14.5 12 5 18.5z",
  back: "m15 5-7 7 7 7",
  forward: "m9 5 7 7-7 7",
  search: "M4 10.5a6.5 6.5 0 1 0 13 0 6.5 6.5 0 1 0-13 0m11.5 5 5 5",
  link: "M10 14a4 4 0 0 0 6 .4l3-3A4.2 4.2 0 0 0 13 5.5l-1.3 1.3M14 10a4 4 0 0 0-6-.4l-3 3a4.2 4.2 0 0 0 6 5.9l1.2-1.3",
  help: "M8.7 9a3.4 3.4 0 1 1 4.9 3c-1 .5-1.6 1.2-1.6 2.3m0 3.7v.1",
  bookmark: "M6.5 4h11v16.5L12 16l-5.5 4.5z",
  table: "M3.5 5h17v14h-17zM3.5 10h17M10 10v9",
  theme: "M3.5 12a8.5 8.5 0 1 0 17 0 8.5 8.5 0 1 0-17 0M12 3.5v17a8.5 8.5 0 0 0 0-17z",
  flag: "M5 21V4h13l-3 4.5 3 4.5H5",
  alert: "M12 4 2.8 19.5h18.4zM12 10v4.5m0 2.6v.1",
  download: "M12 4v12m0 0-5-5m5 5 5-5M4 17v3h16v-3",
  pencil: "m4 20 1-4.5L16 4.5l3.5 3.5L8.5 19zM13.5 7l3.5 3.5",
  undo: "M8 5 3.5 9.5 8 14M4 9.5h10a5.5 5.5 0 0 1 0 11h-4",
  redo: "m16 5 4.5 4.5L16 14m4-4.5H10a5.5 5.5 0 0 0 0 11h4",
  list: "M4 6.5h16M4 12h16M4 17.5h10",
} as const;

export type IconName = keyof typeof ICONS;
export const FILLED: ReadonlySet<IconName> = new Set(["star", "play", "first", "last"]);
