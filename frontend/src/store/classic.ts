// Former names beside current ones, from the one table that the page Then and now has.

import type { Classic } from "./display.svelte.ts";

const ADDRESS = "/then-and-now/words.json";
const YEAR_S = 31_536_000;
const COOKIE = "kviz_classic";
const MOST = 2;

export interface OldRow {
  readonly then: readonly string[];
  readonly group: string;
  /** `predicate`, `priority` or `plugin`; empty for other words. */
  readonly was: string;
  readonly plugins: readonly string[];
  readonly terms: readonly string[];
}

/** Functions of kube-scheduler by extension point. */
export type Functions = Readonly<Record<string, { readonly then: readonly string[]; readonly now: readonly string[] }>>;

const KINDS: Readonly<Record<string, string>> = {
  PreFilter: "predicate",
  Filter: "predicate",
  PreScore: "priority",
  Score: "priority",
};
/** The groups of words that lanes and points have names in. */
const GROUPS = ["queue", "cycle"];

export async function fetchClassic(): Promise<Classic> {
  const response = await fetch(ADDRESS);
  if (!response.ok) throw new Error(response.statusText);
  const { words, functions } = (await response.json()) as { words: readonly OldRow[]; functions: Functions };
  return classicOf(words, functions);
}

export function classicOf(rows: readonly OldRow[], functions: Functions): Classic {
  const plugin = (name: string, point: string): string =>
    some(
      rows.filter((row) => row.was !== "" && row.was === KINDS[point] && row.plugins.includes(name)),
      (row) => row.then,
    );
  return {
    plugin,
    term: (id) => {
      const row = rows.find(({ group, terms }) => GROUPS.includes(group) && terms.includes(id));
      return row?.then[0] ?? "";
    },
    functions: (point) => {
      const sides = [functions[point]?.then ?? [], functions[point]?.now ?? []].map((names) => names.join(", "));
      return [...new Set(sides)].join(" → ");
    },
    message: (name) =>
      some(
        rows.filter((row) => row.group === "messages" && row.plugins.includes(name)),
        (row) => row.then.slice(0, 1),
      ),
  };
}

function some(rows: readonly OldRow[], words: (row: OldRow) => readonly string[]): string {
  const found = rows.flatMap(words);
  return found.slice(0, MOST).join(", ") + (found.length > MOST ? ", …" : "");
}

/** The pages remember it in the same place. */
export function rememberClassic(on: boolean): void {
  document.cookie = `${COOKIE}=${on ? "on" : ""}; path=/; max-age=${on ? YEAR_S : 0}; samesite=lax`;
}
