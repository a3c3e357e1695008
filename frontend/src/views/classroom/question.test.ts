// @vitest-environment happy-dom

import { describe, expect, it } from "vitest";

import type { Asked, Count } from "../../wire/classroom.ts";
import { node, picture } from "./pictured.ts";
import { nodesToTap, optionsOf, votesByNode } from "./question.ts";

const NODES = picture({ nodes: [node("attic"), node("cellar")] });
const named = (...names: string[]): Asked["options"] => names.map((value) => ({ value, text: value }));
const asked = (kind: Asked["kind"], more: Partial<Asked> = {}): Asked =>
  ({ kind, options: [], votes: [], ...more }) as never;
const count = (text: string, n: number): Count => ({ text, n, right: text === "attic" });

describe("the nodes that answer", () => {
  it("are all of the picture where a node is asked for", () => {
    expect(nodesToTap(asked("node"), NODES)).toEqual(["attic", "cellar"]);
    expect(optionsOf(asked("node"), null)).toEqual([]);
  });

  it("are those that are an option, which is called as the node is", () => {
    const choice = asked("choice", { options: [...named("attic"), { value: "cellar", text: "It runs on cellar" }] });
    expect(nodesToTap(choice, NODES)).toEqual(["attic"]);
    expect(nodesToTap(asked("order", { options: named("attic") }), NODES)).toEqual([]);
  });
});

describe("votes that stand in the cards", () => {
  const voted = (...counts: Count[]): Asked => asked("node", { votes: [{ number: 1, n: 3, counts }] });

  it("have a share of all that were given", () => {
    const found = votesByNode(voted(count("attic", 1), count("cellar", 3)), NODES);
    expect(found).toEqual({ attic: { n: 1, share: 25 }, cellar: { n: 3, share: 75 } });
  });

  it("stay a list where somebody answered with no node, or nothing is shown", () => {
    expect(votesByNode(voted(count("attic", 1), count("no node", 1)), NODES)).toBeNull();
    expect(votesByNode(asked("node", { votes: [{ number: 1, n: 3, counts: null }] }), NODES)).toBeNull();
  });
});
