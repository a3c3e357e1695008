import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

import { catalogues } from "./catalogues.ts";
import { yaml } from "./texts.ts";

// The Explorer once more, as one script and one style sheet, for pages that carry a run.
export default defineConfig({
  plugins: [svelte(), catalogues({ isEmbedded: true }), yaml()],
  logLevel: "warn",
  build: {
    outDir: "../static/kviz-offline",
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    assetsInlineLimit: Infinity,
    modulePreload: false,
    chunkSizeWarningLimit: 1000, // kB: all of it in one piece is what is wanted here
    rolldownOptions: {
      input: "src/offline.ts",
      // The helper that fetches parts knows its own address; here all parts are in the page.
      transform: { define: { "import.meta": "{}" } },
      output: {
        format: "iife",
        codeSplitting: false,
        entryFileNames: "explorer.js",
        assetFileNames: "explorer[extname]",
      },
    },
  },
} as Parameters<typeof defineConfig>[0]);
