// Everything that leaves the Explorer as a file, in the order of the menu.

import type { PictureName } from "./display.svelte.ts";
import type { TableName } from "./tables.ts";

export type Export =
  | { readonly id: string; readonly kind: "run"; readonly as: "file" | "page" }
  | { readonly id: string; readonly kind: "picture"; readonly of: PictureName; readonly as: "png" | "svg" | "copy" }
  | { readonly id: string; readonly kind: "table"; readonly of: TableName };

const run = (as: "file" | "page"): Export => ({ id: `run-${as}`, kind: "run", as });
const picture = (of: PictureName, as: "png" | "svg" | "copy"): Export => ({
  id: `${of}-${as}`,
  kind: "picture",
  of,
  as,
});
const table = (of: TableName): Export => ({ id: `csv-${of}`, kind: "table", of });

export const EXPORTS: readonly Export[] = [
  run("file"),
  run("page"),
  picture("map", "png"),
  picture("map", "svg"),
  picture("map", "copy"),
  picture("timeline", "png"),
  picture("timeline", "svg"),
  table("nodes"),
  table("filter"),
  table("scores"),
  table("dryRuns"),
  table("criteria"),
  table("cache"),
  table("events"),
  table("log"),
  table("queues"),
  table("cycles"),
];
