import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// The page that carries the Explorer finds the hashed names in the manifest.
export default defineConfig({
  base: "/static/kviz/",
  plugins: [svelte()],
  build: {
    outDir: "../static/kviz",
    emptyOutDir: true,
    manifest: "manifest.json",
    target: "es2022",
    sourcemap: false,
    rolldownOptions: { input: "src/main.ts" },
  },
  test: {
    environment: "node",
    include: ["src/**/*.test.ts"],
  },
} as Parameters<typeof defineConfig>[0]);
