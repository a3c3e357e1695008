// @vitest-environment happy-dom

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { followRun, type Progress } from "./run.ts";

const RUNNING = { status: "running", cycles: 0, bound: 4, pending: 6, last_seq: 0 };

beforeEach(() => {
  vi.useFakeTimers();
  document.documentElement.lang = "en";
  document.body.innerHTML = `<section data-follow="/api/v1/runs/1/" data-bound-before="" data-state="running">
    <h2 data-heading data-loading="Reading" data-running="Running"></h2>
    <progress data-progress></progress>
    <p data-status data-text="{cycles} cycles, {bound} bound, {rate} per second"></p></section>`;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Follow a run that answers so, one after the other; the last answer stays. */
function follow(answers: readonly (Progress | null)[], leaving = { now: false }) {
  let n = 0;
  vi.stubGlobal("fetch", () => {
    const answer = answers[Math.min(n++, answers.length - 1)];
    return Promise.resolve(answer ? Response.json(answer) : new Response("", { status: 502 }));
  });
  const reload = vi.spyOn(location, "reload").mockImplementation(() => undefined);
  void followRun(document.querySelector("section")!, leaving);
  return reload;
}

const text = (selector: string) => document.querySelector(selector)!.textContent;

test("it says how far the run is, and how fast", async () => {
  follow([RUNNING, { ...RUNNING, cycles: 1000, bound: 1004 }, { ...RUNNING, cycles: 1700, bound: 1704 }]);
  await vi.advanceTimersByTimeAsync(0);
  expect([text("h2"), text("p")]).toEqual(["Reading", ""]);
  await vi.advanceTimersByTimeAsync(700);
  expect(text("h2")).toBe("Running");
  await vi.advanceTimersByTimeAsync(700);
  expect(text("p")).toBe("1,700 cycles, 1,704 bound, 1,000 per second");
  const bar = document.querySelector("progress")!;
  expect([bar.value, bar.max]).toEqual([1700, 1706]);
});

test("in another state the page is made again, after a server that was away", async () => {
  const reload = follow([null, { ...RUNNING, status: "finished" }]);
  await vi.advanceTimersByTimeAsync(2999);
  expect(reload).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(reload).toHaveBeenCalledOnce();
});

test("a reader on the way to another page is not taken back", async () => {
  const leaving = { now: true };
  const reload = follow([{ ...RUNNING, status: "paused" }], leaving);
  await vi.advanceTimersByTimeAsync(5000);
  expect(reload).not.toHaveBeenCalled();
  leaving.now = false;
  await vi.advanceTimersByTimeAsync(700);
  expect(reload).toHaveBeenCalledOnce();
});
