// Amounts of resources as the Lab's handles have them: text, number, and place on a scale.

import { quantity } from "../base/format.ts";

/** Places on a handle, from 0. */
export const PLACES = 100;
/** The finest amount on a scale is so much less than the greatest. */
const SPAN = 4000;
const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** What a quantity says, cpu in milli, others in whole; null for what is none. */
export function amountOf(resource: string, text: string): number | null {
  const found = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+))?([numkMGTPE]|[KMGTPE]i)?$/.exec(text.trim());
  if (!found) return null;
  const [, digits = "", exponent = "0", suffix = ""] = found;
  const value = Number(digits) * 10 ** Number(exponent) * SUFFIXES[suffix]!;
  return Math.ceil(Number((resource === "cpu" ? value * 1000 : value).toPrecision(12)));
}

/** A handle's scale: by equal steps for what comes in few pieces, else by equal factors; its start is nothing. */
export interface Scale {
  readonly most: number;
  readonly places: number;
  at(place: number): number;
  placeOf(amount: number): number;
}

export function scaleOf(most: number): Scale {
  if (most <= PLACES) {
    const places = Math.max(1, most);
    return { most, places, at: (place) => place, placeOf: (amount) => Math.min(amount, places) };
  }
  const least = Math.max(1, most / SPAN);
  const factor = Math.log(most / least) / (PLACES - 1);
  const at = (place: number): number => (place <= 0 ? 0 : round(least * Math.exp(factor * (place - 1)), most));
  const placeOf = (amount: number): number =>
    amount < least ? Number(amount > 0) : Math.min(PLACES, 1 + Math.round(Math.log(amount / least) / factor));
  return { most, places: PLACES, at, placeOf };
}

/** Two digits of an amount, in its own unit; the greatest as it is. */
function round(amount: number, most: number): number {
  if (amount >= most * 0.999) return most;
  const unit = most >= 2 ** 24 ? 2 ** (10 * Math.floor(Math.log2(amount) / 10)) : 1;
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(amount / unit)) - 1);
  const rounded = Math.round(amount / unit / digits) * digits;
  return Math.max(1, Math.round((rounded < 10 ? Math.round((amount / unit) * 10) / 10 : rounded) * unit));
}

/** A limit that stands to another request as it stood to the one before. */
export function limitBeside(resource: string, limit: string, before: string, after: string): string | null {
  const [old, from, to] = [amountOf(resource, limit), amountOf(resource, before), amountOf(resource, after)];
  if (old === null || to === null) return null;
  const scaled = from ? Math.round((old * to) / from) : Math.max(old, to);
  return exact(resource, scaled);
}

/** An amount in notation that loses nothing. */
function exact(resource: string, amount: number): string {
  const text = quantity(resource, amount);
  return amountOf(resource, text) === amount ? text : String(amount);
}
