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
  | { readonly uncordon: string }
  | { readonly copyNode: { readonly node: string; readonly copies: number } }
  | { readonly delete: Target }
  | { readonly scoring: Scoring };

/** How NodeResourcesFit scores; `shape` is that of a RequestedToCapacityRatio. */
export interface Scoring {
  readonly type: string;
  readonly shape?: readonly ShapePoint[];
}

/** So much of a node in percent gets a score of 0 to 10. */
export interface ShapePoint {
  readonly utilization: number;
  readonly score: number;
}

/** Changes of the rules hold from the beginning of a run. */
export const isRule = (change: Change): boolean => "weight" in change || "scoring" in change;

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

const ACTIONS = [
  "weight",
  "set",
  "taint",
  "untaint",
  "label",
  "unlabel",
  "cordon",
  "uncordon",
  "copyNode",
  "delete",
  "scoring",
];

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
  if ("copyNode" in change) return `copies ${change.copyNode.node}`;
  if ("delete" in change) return `delete ${change.delete.kind}/${change.delete.namespace ?? ""}/${change.delete.name}`;
  if ("scoring" in change) return "scoring";
  return `cordon ${"cordon" in change ? change.cordon : change.uncordon}`;
}

/** The subject of a change of one field. */
export const subjectOfField = ({ kind, namespace, name }: Target, path: string): string =>
  `set ${kind}/${namespace ?? ""}/${name} ${path}`;

const taintOf = ({ node, key, effect }: TaintChange): string => `taint ${node} ${key}:${effect}`;

/** The list with a change, in place of one about the same. */
export function withChange(changes: readonly Change[], change: Change): readonly Change[] {
  const at = changes.findIndex((each) => subject(each) === subject(change));
  return at < 0 ? [...changes, change] : changes.with(at, change);
}

export const without = (changes: readonly Change[], about: string): readonly Change[] =>
  changes.filter((each) => subject(each) !== about);

const numeric = new Intl.Collator("en", { numeric: true });

/**
 * The order in which they are carried out. Paths name elements of lists as the object has them, so elements are taken
 * away after everything else, the last one first; objects are deleted at the very end.
 */
export function inOrder(changes: readonly Change[]): readonly Change[] {
  const dropped = changes.filter(isDrop).sort((a, b) => numeric.compare(subject(b), subject(a)));
  const deleted = changes.filter((change) => "delete" in change);
  const first = changes.filter((change) => !isDrop(change) && !("delete" in change));
  return [...first, ...dropped, ...deleted];
}

const isDrop = (change: Change): boolean => "set" in change && change.set.value === null;
