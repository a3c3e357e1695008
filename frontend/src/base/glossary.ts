// The glossary the pages have, too: fetched when the first term is explained, or when there is time.

import type { TermId } from "./term-ids.ts";
import { glossaryCatalogue } from "./text/language.ts";

export type { TermId };

export type DiagramName = "queues" | "cycles" | "cache";

/** A term has an example, or a diagram of which it is a part. */
export interface Term {
  readonly name: string;
  readonly text: string;
  readonly example?: string;
  readonly picture?: DiagramName;
}

type Terms = Readonly<Record<TermId, Term>>;
let terms: Promise<Terms> | undefined;

/** Imported once: an import that is repeated for every row costs more than the row. */
export async function termOf(id: TermId): Promise<Term> {
  terms ??= read();
  return (await terms)[id];
}

async function read(): Promise<Terms> {
  const [file, translated] = await Promise.all([import("../../../kviz/reference/glossary.yaml"), glossaryCatalogue()]);
  const inLanguage = ([id, term]: [string, Term]): [string, Term] => {
    const example = term.example && (translated[`${id}.example`] ?? term.example);
    const said = { name: translated[`${id}.name`] ?? term.name, text: translated[`${id}.text`] ?? term.text };
    return [id, { ...term, ...said, ...(example ? { example } : {}) }];
  };
  return Object.fromEntries(Object.entries(file.default.terms as Terms).map(inLanguage)) as Terms;
}

/** The terms of extension points, which the diagram of the two cycles shows. */
export const POINT_TERMS: Readonly<Record<string, TermId>> = {
  PreEnqueue: "pre-enqueue",
  QueueSort: "queue-sort",
  PreFilter: "pre-filter",
  Filter: "filter",
  PostFilter: "post-filter",
  PreScore: "pre-score",
  Score: "score",
  NormalizeScore: "normalize-score",
  Reserve: "reserve",
  Unreserve: "unreserve",
  Permit: "permit",
  PreBind: "pre-bind",
  Bind: "bind",
  PostBind: "post-bind",
};
