import { defineConfig } from "vite";

// A classic script beside the modules: the browser runs it before it paints.
export default defineConfig({
  logLevel: "warn",
  build: {
    outDir: "../static/kviz",
    emptyOutDir: false,
    target: "es2022",
    rolldownOptions: {
      input: "src/theme.ts",
      output: { format: "iife", entryFileNames: "theme.js" },
    },
  },
} as Parameters<typeof defineConfig>[0]);
