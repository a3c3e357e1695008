// Amounts as a class reads them: cpu in cores, memory in one unit for both sides of a comparison.

import type { NodeDrawn } from "../../wire/classroom.ts";
import { bytes, quantity } from "../../base/format.ts";

const BYTES = /^(memory|ephemeral-storage|hugepages-.*)$/;
const UNITS = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

const short = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

/** One amount: `2`, `0.5`, `8Gi`; cpu in cores, for it is compared with cores. */
export function amount(resource: string, value: number): string {
  if (resource === "cpu") return short(value / 1000, 2);
  return BYTES.test(resource) ? bytes(value) : quantity(resource, value);
}

/** What is free, and of how much, in one unit. */
export function freeOf(resource: string, free: number, all: number): readonly [string, string] {
  if (!BYTES.test(resource)) return [amount(resource, free), amount(resource, all)];
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, all)) / 10)));
  const inUnit = (value: number): string => `${short(value / 1024 ** power, 1)}${UNITS[power]}`;
  return [free === 0 ? "0" : inUnit(free), inUnit(all)];
}

/** `2 cpu`, `8Gi`: what a pod requests, ready to be listed. */
export function requested(requests: Readonly<Record<string, number>>): readonly string[] {
  return Object.entries(requests).map(([resource, value]) =>
    resource === "memory" ? amount(resource, value) : `${amount(resource, value)} ${resource}`,
  );
}

/** By how much a node is short of what a pod requests; empty where it has enough. */
export function lacks(node: NodeDrawn, requests: Readonly<Record<string, number>>): readonly string[] {
  const missing = Object.entries(node.room)
    .map(([resource, [free]]) => [resource, (requests[resource] ?? 0) - free] as const)
    .filter(([resource, n]) => n > 0 && (requests[resource] ?? 0) > 0);
  return requested(Object.fromEntries(missing));
}

/** A number in the digits of the page's language. */
export function inDigits(amount: number): string {
  return amount.toLocaleString(document.documentElement.lang);
}
