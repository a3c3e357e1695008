// @vitest-environment happy-dom

import { describe, expect, it } from "vitest";

import type { Asked, Picture } from "../../wire/classroom.ts";
import { formOf } from "./question.ts";

const asked = (kind: Asked["kind"]): Asked => ({ kind, vote: 7 }) as Asked;
const picture = { nodes: [] } as unknown as Picture;

describe("the form of a vote", () => {
  it("is made again when the nodes that may be chosen are there", () => {
    expect(formOf(asked("node"), null)).not.toBe(formOf(asked("node"), picture));
  });

  it("is kept through all other news", () => {
    expect(formOf(asked("number"), null)).toBe(formOf(asked("number"), picture));
    expect(formOf(asked("node"), picture)).toBe(formOf(asked("node"), { ...picture }));
  });
});
