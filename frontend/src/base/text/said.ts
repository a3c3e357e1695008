// What a trace says in kviz's own words (what steps did, what is not modelled, why a run stopped) is in English
// there. The server sends each in the language of the page ahead of the chunk that says it.

const said = new Map<string, string>();

/** Learn texts by their English. */
export function learnSaid(texts: Readonly<Record<string, string>>): void {
  for (const [english, text] of Object.entries(texts)) said.set(english, text);
}

/** A text of a trace in the language of the page; in English where nobody has said it otherwise. */
export const inWords = (english: string): string => said.get(english) ?? english;
