// Where a place in a YAML text is: the keys that lead there, found by indentation, so that a text in the making is
// understood, too. Flow style ({a: b}) is not looked into.

import type { About, Step } from "./schema.ts";

export interface Position {
  readonly steps: readonly Step[];
  /** The mapping in which the place is. */
  readonly here: About;
  /** The keys that the mapping has already, but for that of the place's own line. */
  readonly present: readonly string[];
  /** The key whose value is written at the place; null where a key is written. */
  readonly key: string | null;
  /** What stands between the beginning of key or value and the place. */
  readonly prefix: string;
  /** In columns, where the key begins. */
  readonly column: number;
}

interface Line {
  /** Columns at which a dash begins an item. */
  readonly dashes: readonly number[];
  readonly column: number;
  readonly key: string | null;
  readonly value: string;
}

const KEY = /^("[^"]*"|'[^']*'|[^\s:#{["'][^:#]*?)\s*:(?:\s+(.*))?$/;

/** Find out where `column` of line `at` is (both from 0). */
export function positionAt(lines: readonly string[], at: number, column: number): Position {
  const text = (lines[at] ?? "").slice(0, column);
  const here = parsed(text) ?? { dashes: [], column: text.length, key: null, value: "" };
  const [first, last] = documentAround(lines, at);
  const block = mappingAround(lines, at, here, first, last);
  const steps = stepsTo(lines, at, here, first, last);
  const parts = { steps, here: about(block), present: [...block.keys()], column: here.column };
  if (here.key !== null) return { ...parts, key: here.key, prefix: here.value };
  return { ...parts, key: null, prefix: text.slice(here.column) };
}

function parsed(line: string): Line | null {
  const bare = line.replace(/(^|\s)#.*$/, "$1");
  if (!bare.trim() && !line.trim()) return { dashes: [], column: line.length, key: null, value: "" };
  if (!bare.trim()) return null;
  const dashes: number[] = [];
  let column = bare.search(/\S/);
  while (/^-(\s|$)/.test(bare.slice(column))) {
    dashes.push(column);
    const rest = bare.slice(column + 1).search(/\S/);
    if (rest < 0) {
      column = bare.length;
      break;
    }
    column += 1 + rest;
  }
  const found = KEY.exec(bare.slice(column));
  return { dashes, column, key: found ? unquoted(found[1] ?? "") : null, value: (found?.[2] ?? "").trimStart() };
}

/** A line with something on it; null for one without. */
function written(lines: readonly string[], i: number): Line | null {
  const line = lines[i] ?? "";
  return line.trim() && !/^\s*#/.test(line) ? parsed(line) : null;
}

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/, "$2");

function documentAround(lines: readonly string[], at: number): [number, number] {
  let first = at;
  while (first > 0 && !(lines[first - 1] ?? "").startsWith("---")) first--;
  let last = at;
  while (last + 1 < lines.length && !(lines[last + 1] ?? "").startsWith("---")) last++;
  return [first, last];
}

const about = (block: ReadonlyMap<string, string>): About => ({
  kind: block.get("kind") ?? "",
  name: block.get("name") ?? "",
});

/** The other keys of the mapping that a line belongs to, with their values. */
function mappingAround(
  lines: readonly string[],
  at: number,
  here: Line,
  first: number,
  last: number,
): Map<string, string> {
  const found = new Map<string, string>();
  const take = (line: Line): boolean => {
    if (line.column === here.column && line.key !== null) found.set(line.key, unquoted(line.value.trim()));
    return line.column < here.column;
  };
  if (!here.dashes.length) {
    for (let i = at - 1; i >= first; i--) {
      const line = written(lines, i);
      if (!line) continue;
      const isOver = take(line);
      if (isOver || (line.column === here.column && line.dashes.length)) break;
    }
  }
  for (let i = at + 1; i <= last; i++) {
    const line = written(lines, i);
    if (!line) continue;
    if (line.column < here.column || line.dashes.some((dash) => dash < here.column)) break;
    take(line);
  }
  return found;
}

/** The keys around a line, the outermost first. */
function stepsTo(lines: readonly string[], at: number, here: Line, first: number, last: number): Step[] {
  const steps: Step[] = [];
  // Whoever begins at a column below this is around the line; at it, if the line is in a list of that key.
  let below = here.dashes[0] ?? here.column;
  let isItem = here.dashes.length > 0;
  for (let i = at - 1; i >= first && (below > 0 || isItem); i--) {
    const line = written(lines, i);
    if (!line) continue;
    if (!isItem && line.dashes.length && line.column === below) {
      // The first key of the item in which the line is.
      below = line.dashes[0] ?? below;
      isItem = true;
      continue;
    }
    const isAround = line.column < below || (isItem && line.column === below && !line.dashes.includes(below));
    if (!isAround || line.key === null) continue;
    steps.unshift({ key: line.key, ...about(mappingAround(lines, i, line, first, last)) });
    below = line.dashes[0] ?? line.column;
    isItem = line.dashes.length > 0;
  }
  return steps;
}
