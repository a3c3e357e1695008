// The glossary the pages have, too: fetched when the first term is explained, or when there is time.

import type source from "../../../kviz/common/glossary/en.json";

export type TermId = keyof typeof source.terms;

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
  terms ??= import("../../../kviz/common/glossary/en.json").then((file) => file.default.terms as Terms);
  return (await terms)[id];
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
