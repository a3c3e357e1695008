// The words of the interface: a table of texts by key, with parameters and plural forms.

import { en } from "./en.ts";
import type { late } from "./en-late.ts";
import type { lesson } from "./en-lesson.ts";
import type { pair } from "./en-pair.ts";
import { catalogue, LANGUAGE, type Catalogue } from "./language.ts";
import type { Said } from "./sentences.ts";

/** A text, or its plural forms chosen by the parameter `n`. `{name}` is replaced. */
export type Entry = string | { readonly one: string; readonly other: string };
export type TextKey = keyof typeof en | keyof typeof late | keyof typeof pair | keyof typeof lesson;
export type Params = Readonly<Record<string, string | number>>;

const texts: Partial<Record<TextKey, Entry>> = { ...en };
let translated: Catalogue = {};
let saidInIt: Said = () => null;
const numbers = new Intl.NumberFormat(LANGUAGE);
const compact = new Intl.NumberFormat(LANGUAGE, { notation: "compact" });
const plurals = new Intl.PluralRules(LANGUAGE);

/** Add texts that come later than the first ones; `late.ts` does. */
export function add(more: Partial<Record<TextKey, Entry>>): void {
  Object.assign(texts, more);
}

/** Learn the language of the page; what is shown before is English. */
export async function learn(): Promise<void> {
  translated = await catalogue();
  if (LANGUAGE !== "en") saidInIt = (await import("./sentences.ts")).saying(translated, show);
}

/** A sentence of kviz's own in the language of the page, of what it is made of; null in English, which traces hold. */
export const said = (madeOf: unknown): string | null => saidInIt(madeOf);

export function t(key: TextKey, params: Params = {}): string {
  let text = "";
  for (const part of parts(key, params)) text += part.text;
  return text;
}

export interface TextPart {
  readonly text: string;
  /** The parameter this part came from; empty for the words between. */
  readonly name: string;
}

/** The text in pieces, so that a parameter can be shown as a link or a name. */
export function parts(key: TextKey, params: Params = {}): TextPart[] {
  return pieces(translated[key] ?? form(texts[key]!, params)).map((piece) => {
    const value = params[piece.name];
    return value === undefined ? { text: piece.text, name: "" } : { text: show(value), name: piece.name };
  });
}

const takenApart = new Map<string, readonly TextPart[]>();

/** A text as words and parameters, these with their braces. */
function pieces(text: string): readonly TextPart[] {
  const known = takenApart.get(text);
  if (known) return known;
  const found = text
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((piece) => ({ text: piece, name: /^\{(\w+)\}$/.exec(piece)?.[1] ?? "" }));
  takenApart.set(text, found);
  return found;
}

function form(entry: Entry, params: Params): string {
  if (typeof entry === "string") return entry;
  return plurals.select(Number(params.n)) === "one" ? entry.one : entry.other;
}

const show = (value: string | number | bigint): string => (typeof value === "string" ? value : numbers.format(value));

/** A key made at run time, if there is a text for it. */
export function textIfAny(key: string): string | null {
  return key in texts ? t(key as TextKey) : null;
}

/** A number where room is short: 1,000,000 is 1M. */
export const short = (value: number): string => compact.format(value);

export const number = (value: number): string => numbers.format(value);
