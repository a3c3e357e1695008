// The taints that keep a pod off nodes.

import type { TaintRecord } from "../wire/events.ts";
import type { Explorer } from "./explorer.ts";
import { taintText } from "./nodes.ts";
import { statusOf, type CycleDetail } from "./verdicts.ts";

const PLUGIN = "TaintToleration";
/** This effect keeps no pod off a node. */
const SOFT = "PreferNoSchedule";

/** Taints of the nodes that TaintToleration rejects, those of most nodes first. */
export function taintsAgainst(
  explorer: Explorer,
  detail: CycleDetail | null,
): readonly { taint: TaintRecord; n: number }[] {
  const found = new Map<string, { taint: TaintRecord; n: number }>();
  const plugin = explorer.pluginNumber(PLUGIN);
  for (const node of detail?.examined ?? []) {
    if (statusOf(detail!, node)?.plugin !== plugin) continue;
    for (const taint of explorer.state.nodeFacts(node)?.taints ?? []) {
      if (taint.effect === SOFT) continue;
      const known = found.get(taintText(taint));
      found.set(taintText(taint), { taint, n: (known?.n ?? 0) + 1 });
    }
  }
  return [...found.values()].sort((a, b) => b.n - a.n);
}
