// kviz's own sentences in a trace (what steps did, what is not modelled, why a run stopped): in English, and what they
// are made of, the id of a template with its values.

import { said } from "./text.ts";

/** A sentence of a trace in the language of the page; in English where its template is not known. */
export const inWords = (english: string, madeOf: unknown): string => said(madeOf) ?? english;

/** What a run does not model. */
export function notModelled(
  run: { readonly not_modelled: readonly string[]; readonly said: unknown } | null,
): string[] {
  const madeOf = Array.isArray(run?.said) ? (run.said as unknown[]) : [];
  return (run?.not_modelled ?? []).map((text, i) => inWords(text, madeOf[i]));
}
