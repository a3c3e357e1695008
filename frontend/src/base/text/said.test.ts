import { beforeAll, describe, expect, test, vi } from "vitest";

import { inWords, notModelled } from "./said.ts";
import { learn } from "./text.ts";

vi.mock("./language.ts", () => ({
  LANGUAGE: "zh-hans",
  catalogue: () =>
    Promise.resolve({
      "say step.evict": "{what}：驱逐 {pods}",
      "say change.drain": "腾空节点 {node}",
      "say count.pods": "{n:,} 个 Pod",
      "say list.comma": "{a}、{b}",
    }),
}));

const drained = {
  Say: "step.evict",
  with: { what: { say: "change.drain", with: { node: "n" } }, pods: { say: "count.pods", with: { n: 1500 } } },
};

describe("a sentence of a trace", () => {
  beforeAll(learn);

  test("is said in the language of the page, and what it is made of as well", () => {
    expect(inWords("Drain node n: evict 1,500 pods", drained)).toBe("腾空节点 n：驱逐 1,500 个 Pod");
    expect(inWords("a, b, c", { say: "list.comma", with: ["a", "b", "c"] })).toBe("a、b、c");
    expect(inWords("a", { say: "list.comma", with: ["a"] })).toBe("a");
  });

  test("stays English where a part of it is not known", () => {
    const unknown = { say: "step.evict", with: { what: { say: "change.new", with: {} }, pods: "2 pods" } };
    expect(inWords("English", unknown)).toBe("English");
    for (const madeOf of [undefined, null, "text", 7, [], {}, { say: "step.evict", with: { what: "x" } }]) {
      expect(inWords("English", madeOf)).toBe("English");
    }
  });

  test("stands beside each thing that is not modelled", () => {
    const run = { not_modelled: ["1,500 pods", "plain"], said: [{ say: "count.pods", with: { n: 1500 } }, null] };
    expect(notModelled(run)).toEqual(["1,500 个 Pod", "plain"]);
    expect(notModelled({ not_modelled: ["plain"], said: null })).toEqual(["plain"]);
    expect(notModelled(null)).toEqual([]);
  });
});
