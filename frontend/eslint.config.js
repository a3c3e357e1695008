// What Prettier does not decide. Layers are checked by dependency-cruiser, types by svelte-check.

import { readFileSync } from "node:fs";

import js from "@eslint/js";
import prettier from "eslint-config-prettier";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";

// dependency-cruiser sees components compiled, when imports of types are gone: these hold the layers for them.
const lookingUp = (...layers) => ({
  "no-restricted-imports": [
    "error",
    { patterns: [{ regex: `^[./]+/(${layers.join("|")})/`, message: "a layer above" }] },
  ],
});
const OTHER_VIEW = { regex: "^[.][.]/(?![.][.]/(base|wire|store)/)", message: "another view, or a layer above" };

const LINE = JSON.parse(readFileSync(new URL(".prettierrc.json", import.meta.url), "utf8")).printWidth;

export default ts.config(
  { ignores: ["node_modules/", "src/wire/events.ts"] },
  js.configs.recommended,
  ts.configs.recommendedTypeChecked,
  ts.configs.stylisticTypeChecked,
  svelte.configs.recommended,
  prettier,
  svelte.configs.prettier,
  {
    languageOptions: {
      globals: globals.browser,
      parserOptions: { projectService: true, extraFileExtensions: [".svelte"] },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      // Prettier leaves long words and long markup alone.
      "max-len": ["error", { code: LINE }],
      "max-lines": ["error", { max: 500 }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      // A part of the store has the name of a thing that windows have.
      "no-restricted-globals": ["error", "navigation"],
      eqeqeq: ["error", "always", { null: "ignore" }],
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser } },
  },
  { files: ["**/*.test.ts"], rules: { "@typescript-eslint/unbound-method": "off" } },
  {
    files: ["**/*.ts"],
    ignores: ["**/*.test.ts", "**/*.bench.ts"],
    rules: { "max-lines-per-function": ["error", { max: 70 }] },
  },
  // Maps of the store are caches: nobody waits for what is in them.
  { files: ["src/store/**"], rules: { "svelte/prefer-svelte-reactivity": "off" } },
  { files: ["src/base/**/*.svelte"], rules: lookingUp("wire", "store", "views", "app") },
  { files: ["src/views/**/*.svelte"], rules: { "no-restricted-imports": ["error", { patterns: [OTHER_VIEW] }] } },
  {
    files: ["*.config.js", "*.config.mjs", "english.js"],
    extends: [ts.configs.disableTypeChecked],
    languageOptions: { globals: globals.node },
  },
);
