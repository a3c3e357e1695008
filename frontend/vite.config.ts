import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// The page that carries the Explorer finds the hashed names in the manifest (django-vite).
/** Where `npm run dev` serves the sources, with hot reload, to a page that Django serves. */
const DEV_PORT = 5173;

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
  plugins: [svelte()],
  build: {
    outDir: "../static/kviz",
    emptyOutDir: true,
    manifest: "manifest.json",
    target: "es2022",
    sourcemap: false,
    rolldownOptions: { input: ["src/main.ts", "src/editor.ts", "src/experiment.ts"] },
  },
  test: {
    environment: "node",
    include: ["src/**/*.test.ts"],
  },
} as Parameters<typeof defineConfig>[0]);
