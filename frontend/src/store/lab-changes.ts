// Changes as docs/changes.md describes them, in a list: what the Lab tries, sends and keeps in the address.

export interface Target {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

export interface TaintChange {
  readonly node: string;
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export type Change =
  | { readonly weight: { readonly plugin: string; readonly weight: number } }
  | { readonly set: Target & { readonly path: string; readonly value: Json } }
  | { readonly taint: TaintChange }
  | { readonly untaint: TaintChange }
  | { readonly label: { readonly node: string; readonly key: string; readonly value: string } }
  | { readonly unlabel: { readonly node: string; readonly key: string } }
  | { readonly cordon: string }
  | { readonly uncordon: string };

/** The Lab is open, and nothing is tried. */
export const NOTHING = "-";

/** A list of changes in letters that need no escape in an address. */
export function written(changes: readonly Change[]): string {
  if (!changes.length) return NOTHING;
  const bytes = new TextEncoder().encode(JSON.stringify(changes));
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The inverse; null for what nobody has written so. */
export function read(text: string): readonly Change[] | null {
  if (text === NOTHING || text === "") return [];
  try {
    const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const changes: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return Array.isArray(changes) && changes.every(isChange) ? changes : null;
  } catch {
    return null;
  }
}

const ACTIONS = ["weight", "set", "taint", "untaint", "label", "unlabel", "cordon", "uncordon"];

function isChange(value: unknown): value is Change {
  if (typeof value !== "object" || value === null) return false;
  const [action, ...more] = Object.keys(value);
  return action !== undefined && more.length === 0 && ACTIONS.includes(action);
}

/** What a change is about: two about the same do not stand in one list, the later one counts. */
export function subject(change: Change): string {
  if ("weight" in change) return `weight ${change.weight.plugin}`;
  if ("set" in change) {
    const { kind, namespace = "", name, path, value } = change.set;
    const added = path.endsWith("[+]") ? ` ${JSON.stringify(value)}` : "";
    return `set ${kind}/${namespace}/${name} ${path}${added}`;
  }
  if ("taint" in change) return taintOf(change.taint);
  if ("untaint" in change) return taintOf(change.untaint);
  if ("label" in change) return `label ${change.label.node} ${change.label.key}`;
  if ("unlabel" in change) return `label ${change.unlabel.node} ${change.unlabel.key}`;
  return `cordon ${"cordon" in change ? change.cordon : change.uncordon}`;
}

const taintOf = ({ node, key, effect }: TaintChange): string => `taint ${node} ${key}:${effect}`;

/** The list with a change, in place of one about the same. */
export function withChange(changes: readonly Change[], change: Change): readonly Change[] {
  const at = changes.findIndex((each) => subject(each) === subject(change));
  return at < 0 ? [...changes, change] : changes.with(at, change);
}

export const without = (changes: readonly Change[], about: string): readonly Change[] =>
  changes.filter((each) => subject(each) !== about);
