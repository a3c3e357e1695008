// What the Lab says of a cycle that was tried: the pod may bind, or bind after an eviction.

import { expect, test } from "vitest";

import type { CycleRecord } from "../../store/record.ts";
import { outcomeInWords } from "./words.ts";

const names = { nodeName: (node: number) => `node-${node}`, podKey: (pod: number) => `shop/pod-${pod}` };

/** A cycle that chose a node, or whose preemption decided for one. */
function cycle(found: { chosen?: number; nominated?: number; victims?: number[] }): CycleRecord {
  const { chosen, nominated, victims = [] } = found;
  const decided = nominated === undefined ? null : { winner: nominated, victims };
  const selected = chosen === undefined ? null : { node: chosen };
  return { selected, preemption: { decided } } as unknown as CycleRecord;
}

test.each([
  [{}, {}, "The pod still finds no node."],
  [{}, { nominated: -1 }, "The pod still finds no node."],
  [{}, { chosen: 2 }, "The pod fits now: node-2 is chosen."],
  [{ chosen: 2 }, { chosen: 2 }, "The same node is chosen."],
  [{ chosen: 1 }, { chosen: 2 }, "node-2 is chosen instead of node-1."],
  [{ chosen: 1 }, {}, "The pod no longer finds a node."],
  [{ nominated: 1, victims: [4] }, {}, "The pod no longer finds a node."],
  [{}, { nominated: 3, victims: [4, 5] }, "The pod evicts shop/pod-4, shop/pod-5 on node-3, then binds."],
  [{ chosen: 1 }, { nominated: 3, victims: [4] }, "The pod evicts shop/pod-4 on node-3, then binds."],
  [
    { nominated: 3, victims: [4] },
    { nominated: 3, victims: [4] },
    "As it happened, the pod evicts shop/pod-4 on node-3, then binds.",
  ],
])("%j and then %j", (before, after, said) => {
  expect(outcomeInWords(cycle(before), cycle(after), names)).toBe(said);
});
