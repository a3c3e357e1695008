// Carries an export out, at the moment shown.

import { clock } from "../../base/format.ts";
import { csv } from "../../base/csv.ts";
import { readPalette } from "../../base/palette.ts";
import { stampOn } from "../../base/pen.ts";
import "../../base/text/late.ts";
import { notModelled } from "../../base/text/said.ts";
import { t, type TextKey } from "../../base/text/text.ts";
import type { Explorer } from "../../store/explorer.ts";
import type { Export } from "../../store/exports.ts";
import type { PictureName } from "../../store/display.svelte.ts";
import { madeWith } from "../../store/made.ts";
import { narrate } from "../../store/narrate.ts";
import { tableOf, type Table } from "../../store/tables.ts";
import { CaptionedPicture, PNG_SCALE } from "./page.ts";
import { fileName, save } from "./save.ts";

/** Something the server makes a file of; without an address the note says why it cannot be had. */
export interface Download {
  readonly as: "file" | "page";
  readonly url: string;
  readonly note: string;
}

export interface Exporting {
  readonly explorer: Explorer;
  readonly name: string;
  readonly downloads: readonly Download[];
}

/** Whether the run is over and all of it is here. */
export const isOver = (explorer: Explorer): boolean => explorer.live.link === "ended";

/** Whether there is such a thing at the moment shown. */
export function isThere(what: Export, { explorer, downloads }: Exporting): boolean {
  if (what.kind === "run")
    return isOver(explorer) && downloads.some((download) => download.as === what.as && download.url !== "");
  if (what.kind === "picture") return explorer.display.pictures.has(what.of);
  return tableOf(what.of, explorer) !== null;
}

/** Do it, and return what to say of it. */
export async function carryOut(what: Export, exporting: Exporting): Promise<string> {
  if (!isThere(what, exporting)) return t("saving.nothing");
  if (what.kind === "run") return download(what.as, exporting);
  return what.kind === "picture" ? picture(what.of, what.as, exporting) : table(what, exporting);
}

function download(as: Download["as"], { downloads }: Exporting): string {
  const link = document.createElement("a");
  link.href = downloads.find((each) => each.as === as)!.url;
  link.download = "";
  link.click();
  return t("saving.begun");
}

function table(what: Export & { kind: "table" }, { explorer, name }: Exporting): string {
  const { columns, rows } = noted(tableOf(what.of, explorer)!, explorer);
  save(
    new Blob([csv(columns, rows)], { type: "text/csv;charset=utf-8" }),
    fileName(named(explorer, name, what.of), "csv"),
  );
  return t("saving.savedRows", { n: rows.length });
}

/** Columns say in every row which release the run follows, and what of its input is not modelled, if anything is. */
function noted(table: Table, { fold, run, released }: Explorer): Table {
  const notes: (readonly [TextKey, string])[] = [
    ["csv.notModelled", notModelled(fold.run).join("; ")],
    ["csv.release", madeWith(run, released)?.release ?? ""],
  ];
  const said = notes.filter(([, text]) => text);
  return {
    columns: [...table.columns, ...said.map(([key]) => t(key))],
    rows: table.rows.map((row) => [...row, ...said.map(([, text]) => text)]),
  };
}

async function picture(of: PictureName, as: "png" | "svg" | "copy", { explorer, name }: Exporting): Promise<string> {
  const page = await captioned(of, explorer, name);
  const names = named(explorer, name, of);
  if (as === "svg") {
    save(new Blob([page.svg(ruler())], { type: "image/svg+xml" }), fileName(names, "svg"));
    return t("saving.saved");
  }
  const blob = await pixels(page);
  if (as === "png") {
    save(blob, fileName(names, "png"));
    return t("saving.saved");
  }
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
    return t("saving.copied");
  } catch {
    return t("saving.copyFailed");
  }
}

async function captioned(of: PictureName, explorer: Explorer, name: string): Promise<CaptionedPicture> {
  const { position } = explorer.navigation;
  const drawn = await explorer.display.pictures.get(of)!();
  const plugin = position.plugin === null ? "" : explorer.pluginName(position.plugin);
  const cycle = position.cycle ? t("topbar.cycle", { n: position.cycle }) : t("topbar.beforeFirst");
  const caveat = explorer.fold.run?.not_modelled.length ? t("topbar.notModelled") : "";
  const release = madeWith(explorer.run, explorer.released)?.release;
  const place = [cycle, position.point, plugin, clock(explorer.state.timeMs), release, caveat]
    .filter(Boolean)
    .join(" › ");
  const { key, params } = narrate(explorer);
  const story = of === "map" ? t(key, params) : "";
  return new CaptionedPicture(drawn, { title: name, place, story }, readPalette(document.documentElement), ruler());
}

function pixels(page: CaptionedPicture): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(page.width * PNG_SCALE);
  canvas.height = Math.round(page.height * PNG_SCALE);
  const context = canvas.getContext("2d")!;
  context.scale(PNG_SCALE, PNG_SCALE);
  page.draw(context, stampOn(context));
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(t("saving.tooLarge")))), "image/png"),
  );
}

const ruler = (): CanvasRenderingContext2D => document.createElement("canvas").getContext("2d")!;

const named = ({ navigation }: Explorer, name: string, what: string): string[] => [
  name,
  `cycle-${navigation.position.cycle}`,
  what,
];
