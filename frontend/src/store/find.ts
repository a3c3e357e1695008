// Finding things by typing: cycles by number, pods and nodes by any part of their names, plugins.

import type { Cycle, NodeIndex, PodIndex } from "../base/units.ts";
import { Queue } from "../wire/events.ts";
import type { Explorer } from "./explorer.ts";

export type Found =
  | { readonly kind: "cycle"; readonly cycle: Cycle; readonly text: string }
  | { readonly kind: "pod"; readonly pod: PodIndex; readonly text: string; readonly waits: boolean }
  | { readonly kind: "node"; readonly node: NodeIndex; readonly text: string }
  | { readonly kind: "plugin"; readonly plugin: string; readonly text: string };

const MOST_OF_A_KIND = 8;

export function findThings(explorer: Explorer, query: string): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found: Found[] = [];
  const cycle = Number(words[0]!.replace(/^#/, ""));
  if (Number.isInteger(cycle) && cycle >= 0 && cycle <= explorer.fold.chronicle.nCycles) {
    found.push({ kind: "cycle", cycle, text: String(cycle) });
  }
  const { state } = explorer;
  for (const pod of matching(explorer.fold.podNames, words)) {
    const waits = state.queueOf(pod) !== Queue.NOWHERE;
    found.push({ kind: "pod", pod, text: explorer.podKey(pod), waits });
  }
  for (const node of matching(explorer.fold.nodeNames, words)) {
    found.push({ kind: "node", node, text: explorer.nodeName(node) });
  }
  const plugins = explorer.fold.run?.plugins ?? [];
  for (const plugin of matching(plugins, words)) {
    found.push({ kind: "plugin", plugin: plugins[plugin]!, text: plugins[plugin]! });
  }
  return found;
}

function* matching(names: readonly string[], words: string[]): Generator<number> {
  let n = 0;
  for (let i = 0; i < names.length && n < MOST_OF_A_KIND; i++) {
    const name = names[i]?.toLowerCase();
    if (!name || !words.every((word) => name.includes(word))) continue;
    n++;
    yield i;
  }
}

/** The cycle that was the last to decide about a pod; 0 if none did. */
export function lastCycleOf({ fold: { chronicle } }: Explorer, pod: PodIndex): Cycle {
  let cycle = chronicle.nCycles;
  while (cycle > 0 && chronicle.pod.at(cycle) !== pod) cycle--;
  return cycle;
}
