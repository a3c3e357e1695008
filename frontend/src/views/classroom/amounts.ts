// Amounts as a class reads them: cpu in cores, memory in one unit for both sides of a comparison.

import type { NodeDrawn } from "../../wire/classroom.ts";
import { bytes, inBytes, quantity, rounded } from "../../base/format.ts";

/** One amount: `2`, `0.5`, `8Gi`; cpu in cores, for it is compared with cores. */
export function amount(resource: string, value: number): string {
  return resource === "cpu" ? rounded(value / 1000, 2) : quantity(resource, value);
}

/** What is free, and of how much, in one unit. */
export function freeOf(resource: string, free: number, all: number): readonly [string, string] {
  if (!inBytes(resource)) return [amount(resource, free), amount(resource, all)];
  return [bytes(free, all), bytes(all)];
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
