// kviz's own sentences in a trace (what steps did, what is not modelled, why a run stopped): in English, and what they
// are made of, the id of a template with its values. The catalogue of the page has the templates.

import { sentence, show } from "./text.ts";

/** What a sentence is made of; `Say` where it begins a line. */
interface MadeOf {
  readonly say?: string;
  readonly Say?: string;
  readonly with: Readonly<Record<string, unknown>> | readonly unknown[];
}

/** A sentence of a trace in the language of the page; in English where its template is not known. */
export const inWords = (english: string, madeOf: unknown): string => said(madeOf) ?? english;

/** What a run does not model. */
export function notModelled(
  run: { readonly not_modelled: readonly string[]; readonly said: unknown } | null,
): string[] {
  const madeOf = Array.isArray(run?.said) ? (run.said as unknown[]) : [];
  return (run?.not_modelled ?? []).map((text, i) => inWords(text, madeOf[i]));
}

function said(madeOf: unknown): string | null {
  if (!isMadeOf(madeOf)) return null;
  const template = sentence(madeOf.say ?? madeOf.Say ?? "");
  if (template === null) return null;
  const values = madeOf.with;
  if (!Array.isArray(values)) return filled(template, values as Readonly<Record<string, unknown>>);
  return (values as unknown[]).reduce<string | null>(
    (a, b, i) => (i === 0 ? shown(b, "") : a === null ? null : filled(template, { a, b })),
    null,
  );
}

const isMadeOf = (value: unknown): value is MadeOf =>
  typeof value === "object" && value !== null && "with" in value && typeof value.with === "object";

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
  if (typeof value === "number" || typeof value === "bigint") return format === "," ? show(value) : String(value);
  return said(value);
}

/** A space between two Chinese characters, as it stands beside a name. */
const BETWEEN = /(?<=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]) (?=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef])/g;
