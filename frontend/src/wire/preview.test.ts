// What re-enacts a cycle is asked for again while the server is busy with another one.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { fetchPreview, keepCluster, Refused, startVariant, type Server } from "./preview.ts";

const server: Server = {
  run: "1",
  api: "/api/v1/runs/1/",
  share: "",
  csrf: "",
  carrier: { tell: () => false, onPreview: () => undefined },
};

const busy = (): Response => Response.json({ detail: "Another cycle is being re-enacted." }, { status: 503 });

describe("a server that re-enacts another cycle", () => {
  let answers: (() => Response)[];
  let asked: string[];

  beforeEach(() => {
    vi.useFakeTimers();
    [answers, asked] = [[], []];
    vi.stubGlobal("fetch", (url: string) => {
      asked.push(url);
      return Promise.resolve(answers.shift()!());
    });
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test("is asked again to keep a cluster, until it has the time", async () => {
    answers = [busy, busy, () => Response.json({ id: "kept" }, { status: 201 })];
    const kept = keepCluster(server, 4);
    await vi.runAllTimersAsync();
    await expect(kept).resolves.toBe("kept");
    expect(asked).toEqual(Array<string>(3).fill("/api/v1/runs/1/cycles/4/snapshot/"));
  });

  test("is not asked again for what nobody wants any more", async () => {
    answers = [busy, busy];
    const request = new AbortController();
    const preview = fetchPreview(server, 4, [], request.signal);
    const outcome = expect(preview).rejects.toThrow(Refused);
    await vi.advanceTimersByTimeAsync(1);
    request.abort();
    await vi.runAllTimersAsync();
    await outcome;
    expect(asked.length).toBe(1);
  });

  test("refuses a new run at once: nothing is re-enacted for it", async () => {
    answers = [busy];
    await expect(startVariant(server, [], 0)).rejects.toThrow("Another cycle is being re-enacted.");
  });
});
