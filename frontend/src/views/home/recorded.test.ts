import { expect, test } from "vitest";

import { cellOf, countAt, type Recorded, sentence, stepsOf } from "./recorded.ts";

const RUN: Recorded = {
  nodes: ["a", "b", "c"],
  cycles: [
    { pod: "web", node: "b", rejected_by: ["", "", "NodeResourcesFit"], totals: [10, 20, null] },
    { pod: "db", node: "a", rejected_by: ["", "", "NodeResourcesFit"], totals: [20, 20, null] },
    { pod: "gpu", node: "c", rejected_by: ["NodeAffinity", "NodeAffinity", ""], totals: null },
  ],
};
const TEXTS = {
  filter: "{n} of {all} can take {pod}",
  single: "only {node} can take {pod}",
  score: "{node} comes first of {n} with {total}",
  tie: "{tied} of {n} tie at {total}",
  bind: "{pod} goes to {node}",
};

test("each cycle is filtered, scored and bound, but nothing is scored where one node is left", () => {
  expect(stepsOf(RUN).map(({ number, point }) => `${number} ${point}`)).toEqual([
    "0 filter",
    "0 score",
    "0 bind",
    "1 filter",
    "1 score",
    "1 bind",
    "2 filter",
    "2 bind",
  ]);
});

test("each step has its sentence, with the values that decide", () => {
  expect(stepsOf(RUN).map((step) => sentence(RUN, step, TEXTS))).toEqual([
    "2 of 3 can take web",
    "b comes first of 2 with 20",
    "web goes to b",
    "2 of 3 can take db",
    "2 of 2 tie at 20",
    "db goes to a",
    "only c can take gpu",
    "gpu goes to c",
  ]);
});

test("a point says what became of the nodes once it is reached", () => {
  const [filter, score, bind] = stepsOf(RUN);
  const counts = (step = filter) => step && (["filter", "score", "bind"] as const).map((of) => countAt(RUN, step, of));
  expect(counts(filter)).toEqual(["3 → 2", "", ""]);
  expect(counts(score)).toEqual(["3 → 2", "2 → 1", ""]);
  expect(counts(bind)).toEqual(["3 → 2", "2 → 1", "b"]);
  expect(counts(stepsOf(RUN).at(-1))).toEqual(["3 → 1", "–", "c"]);
});

test("a node is drawn by what the point decides about it", () => {
  const [filter, score, bind] = stepsOf(RUN);
  const looks = (step = filter) => step && RUN.nodes.map((_, i) => cellOf(RUN, step, i));
  expect(looks(filter)).toEqual([
    { look: "feasible", title: "a" },
    { look: "feasible", title: "b" },
    { look: "rejected", title: "c: NodeResourcesFit" },
  ]);
  expect(looks(score)).toEqual([
    { look: "score", title: "a", total: 10, shade: 3 },
    { look: "score", title: "b", total: 20, shade: 9 },
    { look: "out", title: "c: NodeResourcesFit" },
  ]);
  expect(looks(bind)?.map((cell) => cell.look)).toEqual(["out", "chosen", "out"]);
});

test("nodes that tie are equally dark", () => {
  const tie = stepsOf(RUN)[4];
  expect(tie && [0, 1].map((i) => cellOf(RUN, tie, i).shade)).toEqual([9, 9]);
});
