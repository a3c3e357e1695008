// Sentences out of what they are made of, for pages in another language than English, which traces hold.

import type { Catalogue } from "./language.ts";

/** What a sentence is made of; `Say` where it begins a line. */
interface MadeOf {
  readonly say?: string;
  readonly Say?: string;
  readonly with: Readonly<Record<string, unknown>> | readonly unknown[];
}

export type Said = (madeOf: unknown) => string | null;

/** What says sentences with the templates of a catalogue; null where it lacks one. `amount` shows large numbers. */
export function saying(catalogue: Catalogue, amount: (value: number | bigint) => string): Said {
  function said(madeOf: unknown): string | null {
    if (!isMadeOf(madeOf)) return null;
    const template = catalogue[`say ${madeOf.say ?? madeOf.Say ?? ""}`];
    if (template === undefined) return null;
    const values = madeOf.with;
    if (!Array.isArray(values)) return filled(template, values as Readonly<Record<string, unknown>>);
    return (values as unknown[]).reduce<string | null>(
      (a, b, i) => (i === 0 ? shown(b, "") : a === null ? null : filled(template, { a, b })),
      null,
    );
  }

  /** As Python fills a template; null if a value is a sentence that is not known. */
  function filled(template: string, values: Readonly<Record<string, unknown>>): string | null {
    let isKnown = true;
    const text = template.replace(/\{(\w+)(?::([^}]*))?\}|\{\{|\}\}/g, (found, name?: string, format?: string) => {
      if (name === undefined) return found.charAt(0);
      const value = shown(values[name], format ?? "");
      isKnown &&= value !== null;
      return value ?? "";
    });
    return isKnown ? text.replace(BETWEEN, "") : null;
  }

  function shown(value: unknown, format: string): string | null {
    if (typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "bigint") return format === "," ? amount(value) : String(value);
    return said(value);
  }

  return said;
}

const isMadeOf = (value: unknown): value is MadeOf =>
  typeof value === "object" && value !== null && "with" in value && typeof value.with === "object";

/** A space between two Chinese characters, as it stands beside a name. */
const BETWEEN = /(?<=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]) (?=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef])/g;
