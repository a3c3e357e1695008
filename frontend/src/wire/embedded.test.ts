// A run that stands in its page is handed over as a server would hand it over.

import { gunzipSync, gzipSync } from "node:zlib";

import { decode, encode } from "@msgpack/msgpack";
import { describe, expect, test, vi } from "vitest";

import { Embedded, fromBase64, type EmbeddedChunk } from "./embedded.ts";
import type { Link, Receiver, StatusFrame } from "./source.ts";

const STATUS: StatusFrame = { type: "status", status: "finished", cycles: 12, bound: 0, pending: 0, last_seq: 11 };

/** Which way details are packed is for whoever makes the page. */
const unpack = (bytes: Uint8Array): Uint8Array => gunzipSync(bytes);
const packed = (value: unknown): string => gzipSync(encode(value)).toString("base64");

/** Two cycles a chunk; every third cycle has no details. */
function chunk(n: number): EmbeddedChunk {
  const cycles = [2 * n + 1, 2 * n + 2];
  const details = cycles.filter((cycle) => cycle % 3).map((cycle) => [cycle, [["Detail", cycle, "x".repeat(cycle)]]]);
  return {
    firstCycle: cycles[0]!,
    lastCycle: cycles[1]!,
    headers: () => packed([2 * n, cycles.map((cycle) => ["Header", cycle])]),
    details: vi.fn(() => packed(details)),
  };
}

describe("a run in its page", () => {
  const chunks = [0, 1, 2, 3, 4, 5].map(chunk);
  const run = new Embedded(chunks, STATUS, unpack);

  test("hands over all headers in order, then how the run ended", async () => {
    const told: unknown[] = [];
    await new Promise<void>((ended) => {
      const receiver: Receiver = {
        detail: () => undefined,
        headers: (bytes) => told.push((decode(bytes) as [number])[0]),
        status: (frame) => told.push(frame),
        link: (link: Link) => {
          told.push(link);
          ended();
        },
        failed: (error) => {
          throw error;
        },
      };
      run.start(receiver);
    });
    expect(told).toEqual([0, 2, 4, 6, 8, 10, STATUS, "ended"]);
  });

  test("finds the detail of every cycle, in whatever order one asks", async () => {
    for (const cycle of [12, 1, 2, 7, 3, 11, 4, 8, 5, 6, 9, 10, 1]) {
      const events = decode(await run.detail(cycle));
      expect(events).toEqual(cycle % 3 ? [["Detail", cycle, "x".repeat(cycle)]] : []);
    }
    await expect(run.detail(13)).rejects.toThrow("cycle 13 is not in this page");
  });

  test("unpacks a chunk once while one steps inside it", async () => {
    const fresh = [0, 1].map(chunk);
    const stepped = new Embedded(fresh, STATUS, unpack);
    for (const cycle of [1, 2, 1, 3, 2]) await stepped.detail(cycle);
    expect(fresh.map((each) => vi.mocked(each.details).mock.calls.length)).toEqual([1, 1]);
  });

  test("says what is wrong with a page that was cut off", async () => {
    const broken = new Embedded([{ ...chunk(0), headers: () => "H4sI" }], STATUS, unpack);
    const failed = await new Promise<Error>((resolve) =>
      broken.start({
        headers: () => 0,
        status: () => undefined,
        link: () => undefined,
        detail: () => undefined,
        failed: resolve,
      }),
    );
    expect(failed).toBeInstanceOf(Error);
  });

  test("nobody answers questions here", () => {
    expect([run.also, run.states]).toEqual([null, null]);
    expect([...fromBase64("AAH/")]).toEqual([0, 1, 255]);
  });
});
