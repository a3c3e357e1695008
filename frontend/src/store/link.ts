// The deep link: `?c=CYCLE&p=POINT&g=PLUGIN&pod=NS/NAME&n=NODE&tab=TAB`, and back. What only
// concerns the look of the map (`by`, `col`) is written when it is not the default, what is tried (`lab`) while it is.
// `vs` is a node to compare with.

import type { Cycle } from "../base/units.ts";
import { POINTS, type Point } from "./record.ts";

export const TABS = [
  "why",
  "filter",
  "score",
  "preempt",
  "node",
  "state",
  "log",
  "devices",
  "picture",
  "model",
] as const;
export type Tab = (typeof TABS)[number];
/** Those that the Inspector keeps behind *More*. */
export const MORE: readonly Tab[] = TABS.slice(TABS.indexOf("state"));

/** What a tab was called in links that are older. */
const BEFORE: Readonly<Record<string, Tab>> = { cache: "node" };

/** Names, not numbers: a link must open before, and outlive, any numbering. */
export interface Address {
  readonly cycle: Cycle | null;
  readonly point: Point | null;
  readonly plugin: string;
  readonly pod: string;
  readonly node: string;
  /** The node it is compared with. */
  readonly other: string;
  readonly tab: Tab;
  readonly group: string;
  readonly colour: string;
  /** What is tried, as the Lab writes it; empty while it is closed. */
  readonly changes: string;
}

const BLANK: Address = {
  cycle: null,
  point: null,
  plugin: "",
  pod: "",
  node: "",
  other: "",
  tab: "why",
  group: "",
  colour: "",
  changes: "",
};

const PARAMETERS = {
  cycle: "c",
  point: "p",
  plugin: "g",
  pod: "pod",
  node: "n",
  other: "vs",
  tab: "tab",
  group: "by",
  colour: "col",
  changes: "lab",
} as const;

export function readAddress(search: string): Address {
  const query = new URLSearchParams(search);
  const text = (field: keyof typeof PARAMETERS): string => query.get(PARAMETERS[field]) ?? "";
  const cycle = /^\d{1,9}$/.test(text("cycle")) ? Number(text("cycle")) : null;
  const point = POINTS.find((p) => p === text("point")) ?? null;
  const tab = TABS.find((t) => t === text("tab")) ?? BEFORE[text("tab")] ?? BLANK.tab;
  return {
    cycle,
    point,
    plugin: point ? text("plugin") : "",
    pod: text("pod"),
    node: text("node"),
    other: text("other"),
    tab,
    group: text("group"),
    colour: text("colour"),
    changes: text("changes"),
  };
}

/** The query string, `?` included; keys the Explorer does not own are kept. */
export function writeAddress(address: Address, search: string): string {
  const query = new URLSearchParams(search);
  for (const parameter of Object.values(PARAMETERS)) query.delete(parameter);
  for (const [field, parameter] of Object.entries(PARAMETERS)) {
    const value = address[field as keyof Address];
    const blank = value === null || value === "" || (field === "tab" && value === BLANK.tab);
    if (!blank) query.set(parameter, String(value));
  }
  const text = query.toString().replaceAll("%2F", "/");
  return text && `?${text}`;
}
