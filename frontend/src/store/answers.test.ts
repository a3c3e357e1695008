// What is asked of the server while one looks: once one stays, one at a time, the latest first, given up when left.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { Ask } from "../wire/source.ts";
import { Answers } from "./answers.svelte.ts";

interface Asked {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly answer: (answer: unknown) => void;
  readonly fail: (error: Error) => void;
}

/** A server that answers when it is told to, and lets go of what is given up. */
function server(): { ask: Ask; asked: Asked[] } {
  const asked: Asked[] = [];
  const ask = (path: string, signal: AbortSignal): Promise<unknown> =>
    new Promise((answer, fail) => {
      asked.push({ path, signal, answer, fail });
      signal.addEventListener("abort", () => fail(new Error("given up")));
    });
  return { ask: ask as Ask, asked };
}

describe("answers on demand", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const aWhile = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1000);

  test("what one only passes is not asked for", async () => {
    const { ask, asked } = server();
    const answers = new Answers(ask);
    answers.want("a")();
    answers.want("b");
    await aWhile();
    expect(asked.map((each) => each.path)).toEqual(["b"]);
    expect(answers.of("b").kind).toBe("loading");
    asked[0]!.answer({ n: 1 });
    await aWhile();
    expect(answers.of("b")).toEqual({ kind: "ready", answer: { n: 1 } });
    answers.want("b");
    await aWhile();
    expect(asked.length).toBe(1);
  });

  test("one is under way at a time, then the latest that is wanted", async () => {
    const { ask, asked } = server();
    const answers = new Answers(ask);
    answers.want("a");
    await aWhile();
    answers.want("b");
    answers.want("c");
    await aWhile();
    expect(asked.map((each) => each.path)).toEqual(["a"]);
    asked[0]!.answer(1);
    await aWhile();
    expect(asked.map((each) => each.path)).toEqual(["a", "c"]);
  });

  test("what nobody looks at any more is given up, and no answer to anything", async () => {
    const { ask, asked } = server();
    const answers = new Answers(ask);
    const one = answers.want("a");
    const two = answers.want("a");
    await aWhile();
    one();
    await aWhile();
    expect(asked[0]!.signal.aborted).toBe(false);
    two();
    answers.want("b");
    await aWhile();
    expect(asked[0]!.signal.aborted).toBe(true);
    expect(answers.of("a").kind).toBe("loading");
    expect(asked.map((each) => each.path)).toEqual(["a", "b"]);
  });

  test("a refusal says why, and one may try again", async () => {
    const { ask, asked } = server();
    const answers = new Answers(ask);
    answers.want("a");
    await aWhile();
    asked[0]!.fail(new Error("too far"));
    await aWhile();
    expect(answers.of("a")).toEqual({ kind: "failed", message: "too far" });
    answers.retry("a");
    await aWhile();
    expect(asked.length).toBe(2);
  });
});
