// Every word shown comes from the catalogue, every key asked for is there, and none is left over.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { parse, type AST } from "svelte/compiler";
import { describe, expect, test } from "vitest";

import { en } from "./en.ts";
import { late } from "./en-late.ts";
import { lesson } from "./en-lesson.ts";
import { pair } from "./en-pair.ts";
import "./late.ts";
import { parts, t, textIfAny } from "./text.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter(
  (file) => /\.(ts|svelte)$/.test(file) && !/\.test\.ts$|base\/text\//.test(file),
);
const sources = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));
const keys = [...Object.keys(en), ...Object.keys(late), ...Object.keys(pair), ...Object.keys(lesson)];

/** Keys written out, and the fixed beginnings of keys made at run time. */
function asked(): { exact: Set<string>; prefixes: Set<string> } {
  const exact = new Set<string>();
  const prefixes = new Set<string>();
  for (const text of sources.values()) {
    for (const [, key] of text.matchAll(/"([a-z][A-Za-z0-9]*(?:\.[A-Za-z0-9-]+)+)"/g)) exact.add(key!);
    for (const [, prefix] of text.matchAll(/`(?!kviz)([a-z][A-Za-z]*\.(?:[A-Za-z]+\.)*)\$\{/g)) prefixes.add(prefix!);
  }
  return { exact, prefixes };
}

describe("the catalogue", () => {
  const { exact, prefixes } = asked();

  test("has every key that is asked for", () => {
    const calls = [...sources.values()].flatMap((text) =>
      [...text.matchAll(/\b(?:t|parts|say)\(\s*"([^"]+)"/g)].map((match) => match[1]!),
    );
    expect(calls.filter((key) => key.includes(".") && !keys.includes(key))).toEqual([]);
    expect(calls.length).toBeGreaterThan(100);
  });

  test("has a key for every made-up one", () => {
    const empty = [...prefixes].filter((prefix) => !keys.some((key) => key.startsWith(prefix)));
    expect(empty).toEqual([]);
  });

  test("has no key that nobody asks for", () => {
    const used = (key: string): boolean => exact.has(key) || [...prefixes].some((prefix) => key.startsWith(prefix));
    expect(keys.filter((key) => !used(key))).toEqual([]);
  });

  test.each([
    ["late.ts", late],
    ["pair.ts", pair],
    ["lesson.ts", lesson],
  ])("%s comes with every module that asks for one of its texts", (name, texts) => {
    const beginnings = [...new Set(Object.keys(texts).map((key) => key.split(".")[0]!))].join("|");
    const asks = new RegExp(`["\`](?:${beginnings})\\.(?!kubernetes\\.io)[A-Za-z$]`);
    const without = [...sources].filter(([, text]) => asks.test(text) && !text.includes(`base/text/${name}`));
    // Commands name their titles; the palette, which is late, shows them.
    expect(without.map(([file]) => file).filter((file) => file !== "app/commands.ts")).toEqual([]);
  });

  test("has each text once", () => expect(new Set(keys).size).toBe(keys.length));

  test("forms plurals and replaces parameters", () => {
    expect(t("map.unscheduled", { n: 1 })).toBe("1 pod without a node");
    expect(t("map.unscheduled", { n: 1200 })).toBe("1,200 pods without a node");
    expect(parts("why.bound", { node: "a" })).toEqual([
      { text: "bound to ", name: "" },
      { text: "a", name: "node" },
    ]);
    expect(textIfAny("plugin.Nobody")).toBeNull();
  });
});

const WORDS = /\p{L}{2,}/u;
const SPOKEN = ["aria-label", "title", "placeholder", "alt", "aria-description"];

/** Words that stand in the markup itself. */
function literals(source: string): string[] {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk);
    if (typeof node !== "object" || node === null) return;
    const { type } = node as { type?: string };
    if (type === "StyleDirective") return;
    if (type === "Text" && WORDS.test((node as AST.Text).data)) found.push((node as AST.Text).data.trim());
    if (type === "Attribute") {
      const { name, value } = node as AST.Attribute;
      if (!SPOKEN.includes(name)) return walk(Array.isArray(value) ? value.filter((v) => v.type !== "Text") : value);
    }
    for (const [key, child] of Object.entries(node))
      if (key !== "css" && key !== "instance" && key !== "module") walk(child);
  };
  walk(parse(source, { modern: true }).fragment);
  return found;
}

describe("markup", () => {
  test.each(files.filter((file) => file.endsWith(".svelte")))("%s has no words of its own", (file) => {
    const allowed = new Set(["Ctrl K"]);
    expect(literals(sources.get(file)!).filter((text) => !allowed.has(text))).toEqual([]);
  });

  test("the check would find some", () => {
    expect(literals("<p aria-label='Hello there'>Some words {1}</p>")).toEqual(["Hello there", "Some words"]);
  });
});
