import { readdirSync } from "node:fs";

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vite";

import { catalogues } from "./catalogues.ts";
import { yaml } from "./texts.ts";

// The page that carries the Explorer finds the hashed names in the manifest (django-vite).
/** Where `npm run dev` serves the sources, with hot reload, to a page that Django serves. */
const DEV_PORT = 5173;

/**
 * What both the Explorer and the comparison begin with: one chunk, for in twelve it would weigh 1.6 kB more. A module
 * that is missing here costs a little; one that the Explorer does not begin with must not be here.
 */
const SHARED = new RegExp(
  [
    "src/base/(palette|vector|text/(text|en|said))[.]",
    "src/wire/(asked|client|column|events|msgpack|source)[.]",
    "src/store/(cells|chronicle|cycle|fold|grouping|node-domain|nodes|nominated|observed)[.]",
    "src/store/(record|state|trace|verdicts)[.]",
    "src/views/map/(captions|clip|layout|paint|sprites)[.]",
    "src/views/inspector/PodButton[.]",
  ].join("|"),
);

/** What every page with an island needs, and nothing else. */
const ISLANDS = /node_modules[/](svelte|esm-env|clsx)[/]|preload-helper|src[/]base[/](text[/]language|format)[.]/;

/** The entries of pages that templates make. */
const PAGES = readdirSync(new URL("src/pages/", import.meta.url)).map((name) => `src/pages/${name}`);

/** How long a busy machine may take to fetch a part of the Explorer. */
const PATIENCE_MS = 60_000;

/** Tests of components, which want a document; the others are quicker without. */
const COMPONENTS = "src/**/*.svelte.test.ts";

export default defineConfig({
  base: "/static/kviz/",
  server: {
    port: DEV_PORT,
    strictPort: true,
    // What a style sheet names lies here, not where the page comes from.
    origin: `http://localhost:${DEV_PORT}`,
    // The glossary and the diagrams' style lie beside this folder: the pages have them, too.
    fs: { allow: [".."] },
  },
  plugins: [svelte(), catalogues(), yaml()],
  build: {
    outDir: "../static/kviz",
    emptyOutDir: true,
    manifest: "manifest.json",
    target: "es2022",
    sourcemap: false,
    rolldownOptions: {
      input: ["src/main.ts", "src/compare.ts", "src/experiment.ts", "src/classroom.ts", "src/fonts.css", ...PAGES],
      output: {
        codeSplitting: {
          groups: [
            { name: "base", test: ISLANDS },
            { name: "map", test: SHARED },
          ],
        },
      },
    },
  },
  test: {
    projects: [
      {
        extends: true,
        test: { name: "plain", environment: "node", include: ["src/**/*.test.ts"], exclude: [COMPONENTS] },
      },
      {
        extends: true,
        plugins: [svelteTesting()],
        test: {
          name: "components",
          environment: "happy-dom",
          include: [COMPONENTS],
          globalSetup: "src/testing/recorded.ts",
          setupFiles: "src/testing/components.ts",
          testTimeout: PATIENCE_MS,
        },
      },
    ],
  },
} as Parameters<typeof defineConfig>[0]);
