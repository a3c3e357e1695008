// Vite's part in translations: `virtual:catalogue/zh-hans/explorer` are the texts of locale/zh_Hans/explorer.po, by
// their contexts, and of engine.po the sentences that traces hold.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { Plugin } from "vite";

const PREFIX = "virtual:catalogue/";

/** By the language as pages name it. */
const LOCALES: Readonly<Record<string, string>> = { "zh-hans": "zh_Hans", "zh-hant": "zh_Hant" };

/** The sentences that may stand in a trace, by the topics of their ids: with the Explorer's own texts. */
const TOPICS = [
  "change count evicted field file following import json list note path played",
  "refused session step stopped upload value yaml",
];
const IN_TRACES = new Set(TOPICS.join(" ").split(" "));

/** What the front end has texts of. */
const NAMES = ["explorer", "glossary"];

const fileOf = (language: string, name: string): string =>
  fileURLToPath(new URL(`../locale/${LOCALES[language]}/${name}.po`, import.meta.url));

const read = (language: string): Record<string, string> =>
  Object.assign({}, ...NAMES.map((name) => named(language, name))) as Record<string, string>;

function named(language: string, name: string): Record<string, string> {
  const texts = textsOf(readFileSync(fileOf(language, name), "utf8"));
  return name === "explorer" ? { ...texts, ...sentences(language) } : texts;
}

function sentences(language: string): Record<string, string> {
  const found = Object.entries(textsOf(readFileSync(fileOf(language, "engine"), "utf8")));
  return Object.fromEntries(
    found.filter(([id]) => IN_TRACES.has(id.split(".")[0] ?? "")).map(([id, text]) => [`say ${id}`, text]),
  );
}

/** The translations of a PO file by their contexts. These languages have one form for all numbers. */
export function textsOf(po: string): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const entry of po.split(/\n\n+/)) {
    const key = field(entry, "msgctxt");
    const text = field(entry, "msgstr") || field(entry, "msgstr\\[0\\]");
    if (key && text) texts[key] = text;
  }
  return texts;
}

/** A field of an entry: its strings, of which there may be one a line, joined. */
function field(entry: string, name: string): string {
  const lines = new RegExp(`^${name}((?:\\s+"(?:[^"\\\\]|\\\\.)*")+)`, "m").exec(entry)?.[1] ?? "";
  return [...lines.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([text]) => JSON.parse(text) as string).join("");
}

/**
 * @param isEmbedded where all is one script, it does not carry the languages: a page has the texts of its own, as JSON
 *   in `#catalogue`, and `catalogue.LANGUAGE.json` are written for who makes such pages.
 */
export function catalogues({ isEmbedded = false } = {}): Plugin {
  return {
    name: "catalogues",
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return null;
      if (isEmbedded) return 'export default JSON.parse(document.getElementById("catalogue")?.textContent || "{}");';
      const [language = "", name = ""] = id.slice(PREFIX.length + 1).split("/");
      this.addWatchFile(fileOf(language, name));
      return `export default ${JSON.stringify(named(language, name))};`;
    },
    generateBundle() {
      if (!isEmbedded) return;
      for (const language of Object.keys(LOCALES)) {
        const source = JSON.stringify(read(language));
        this.emitFile({ type: "asset", fileName: `catalogue.${language}.json`, source });
      }
    },
  };
}
