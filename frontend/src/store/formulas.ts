// How a normalised score follows from the raw ones, written out with numbers. The rules are those
// of kube-scheduler's own plugins; where a rule does not give what was recorded, nothing is said.

import "../base/text/late.ts";
import type { Params, TextKey } from "../base/text/text.ts";

const BEST = 100;

export interface Formula {
  readonly key: TextKey;
  readonly params: Params;
}

interface Sum extends Formula {
  readonly value: number;
}

/** The formula by which `raw`, one of `all` raw scores of a plugin, became `normalized`. */
export function normalization(plugin: string, raw: number, all: Iterable<number>, normalized: number): Formula | null {
  let [min, max] = [Infinity, -Infinity];
  for (const each of all) {
    min = Math.min(min, each);
    max = Math.max(max, each);
  }
  const { key, params, value } = sum(plugin, raw, min, max);
  return value === normalized ? { key, params: { ...params, n: normalized } } : null;
}

function sum(plugin: string, raw: number, min: number, max: number): Sum {
  switch (plugin) {
    case "TaintToleration":
      return max
        ? { key: "sum.reversed", params: { raw, max }, value: BEST - Math.trunc((BEST * raw) / max) }
        : allBest();
    case "NodeAffinity":
      return max ? { key: "sum.scaled", params: { raw, max }, value: Math.trunc((BEST * raw) / max) } : plain(raw);
    case "PodTopologySpread":
      return max
        ? { key: "sum.spread", params: { raw, min, max }, value: Math.trunc((BEST * (max + min - raw)) / max) }
        : allBest();
    case "InterPodAffinity":
      return max > min
        ? { key: "sum.stretched", params: { raw, min, max }, value: Math.trunc(BEST * ((raw - min) / (max - min))) }
        : { key: "sum.equal", params: {}, value: 0 };
    default:
      return plain(raw);
  }
}

const plain = (raw: number): Sum => ({ key: "sum.plain", params: { raw }, value: raw });
const allBest = (): Sum => ({ key: "sum.none", params: {}, value: BEST });
