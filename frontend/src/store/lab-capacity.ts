// How much of a resource nodes have: what handles go up to, and what is free.

import type { Explorer } from "./explorer.ts";

export interface Capacity {
  /** The greatest that a node can give, with some to spare, so that one can ask too much. */
  readonly most: number;
  /** The most that is free on a node. */
  readonly room: number;
}

const SPARE = 1.25;
/** These are no amounts that a container asks for. */
const COUNTED = new Set(["pods"]);

/** Resources that some node offers, cpu and memory first. */
export function offeredResources({ state }: Explorer): string[] {
  const offers = (i: number): boolean => state.nodeOrder.some((node) => state.allocatable(node, i) > 0);
  const rank = (name: string): number => (name === "cpu" ? 0 : name === "memory" ? 1 : 2);
  return state.resources
    .filter((name, i) => !COUNTED.has(name) && offers(i))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

export function capacityOf({ state }: Explorer, name: string): Capacity {
  const resource = state.resources.indexOf(name);
  let [most, room] = [0, 0];
  for (const node of resource < 0 ? [] : state.nodeOrder) {
    const allocatable = state.allocatable(node, resource);
    most = Math.max(most, allocatable);
    room = Math.max(room, allocatable - state.requested(node, resource));
  }
  return { most: Math.max(1, Math.ceil(most * SPARE)), room };
}
