// Words of older books and talks: who types one is led to what is there today.

export interface OldWord {
  readonly kind: "then";
  readonly word: string;
  readonly text: string;
  readonly href: string;
}

const ADDRESS = "/then-and-now/words.json";
const MOST = 5;

interface Answer {
  readonly words: readonly { readonly then: readonly string[]; readonly now: string; readonly href: string }[];
}

let asked: Promise<readonly OldWord[]> | null = null;

/** All of them; none on a page without a server, and none while it cannot be reached. */
export function oldWordsOf(server: boolean): Promise<readonly OldWord[]> {
  if (!server) return Promise.resolve([]);
  asked ??= fetched().catch(() => {
    asked = null;
    return [];
  });
  return asked;
}

async function fetched(): Promise<readonly OldWord[]> {
  const response = await fetch(ADDRESS);
  if (!response.ok) throw new Error(response.statusText);
  const { words } = (await response.json()) as Answer;
  return words.flatMap(({ then, now, href }) =>
    then.map((word): OldWord => ({ kind: "then", word: word.toLowerCase(), text: `${word}: ${now}`, href })),
  );
}

/** Those in whose old word all that is typed stands; none while nothing is. */
export function matchingWords(all: readonly OldWord[], typed: readonly string[]): OldWord[] {
  if (!typed.length) return [];
  return all.filter(({ word }) => typed.every((part) => word.includes(part))).slice(0, MOST);
}
