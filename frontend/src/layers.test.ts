// Architecture as a test: base <- wire <- store <- views/<one folder each> <- app; views never know
// each other, and only components know Svelte.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { describe, expect, test } from "vitest";

const ROOT = new URL(".", import.meta.url).pathname;
const LAYERS = ["base", "wire", "store", "views", "app"];
const FREE_OF_SVELTE = ["wire", "store"];

const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.(ts|svelte)$/.test(file) && !/\.(test|bench)\.ts$|^testing\/|^(main|offline)\.ts$/.test(file));

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?:from\s+|import\s+|import\()"([^"]+)"/g)].map((match) => match[1]!);
}

const layerOf = (file: string): string => file.split("/")[0]!;
const viewOf = (file: string): string => file.split("/").slice(0, 2).join("/");

describe("layers", () => {
  test.each(files)("%s lies in a layer and looks down only", (file) => {
    const layer = LAYERS.indexOf(layerOf(file));
    expect(layer, "a layer it belongs to").toBeGreaterThanOrEqual(0);
    for (const name of importsOf(file).filter((n) => n.startsWith("."))) {
      const target = relative(ROOT, join(ROOT, dirname(file), name));
      expect(LAYERS.indexOf(layerOf(target)), `${file} imports ${target}`).toBeLessThanOrEqual(layer);
      if (layerOf(file) === "views" && layerOf(target) === "views") expect(viewOf(target)).toBe(viewOf(file));
    }
  });

  test.each(files.filter((file) => FREE_OF_SVELTE.includes(layerOf(file))))("%s needs no framework", (file) => {
    expect(file.endsWith(".ts")).toBe(true);
    expect(importsOf(file).filter((name) => !name.startsWith("."))).toEqual([]);
  });

  const written = files.filter((file) => file !== "wire/events.ts"); // generated
  test.each(written)("%s is at most 500 lines", (file) => {
    expect(readFileSync(join(ROOT, file), "utf8").split("\n").length).toBeLessThanOrEqual(501);
  });
});
