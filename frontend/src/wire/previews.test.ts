// Previews over the line: the newest counts, what is older than what is shown is dropped, and without a line they are
// asked for by request.

import { gzipSync } from "node:zlib";

import { encode } from "@msgpack/msgpack";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { Server } from "./preview.ts";
import { Previews } from "./previews.ts";
import type { Carrier } from "./source.ts";

const packed = (cycle: number) => ({
  cycle,
  events: [],
  details: [],
  world: 0,
  gated: null,
  without_effect: [],
  limits: [],
  verdict: "",
});

function frame(id: number, cycle: number): DataView<ArrayBuffer> {
  const zipped = gzipSync(encode(packed(cycle)));
  const bytes = new Uint8Array(5 + zipped.length);
  bytes[0] = 0x02;
  new DataView(bytes.buffer).setUint32(1, id);
  bytes.set(zipped, 5);
  return new DataView(bytes.buffer);
}

describe("previews", () => {
  let told: object[];
  let isOpen: boolean;
  let answers: [number, boolean][];
  let problems: string[];
  let progress: number[];
  let carrier: Carrier;
  let previews: Previews;

  beforeEach(() => {
    [told, answers, problems, progress, isOpen] = [[], [], [], [], true];
    carrier = {
      tell: (message) => {
        if (isOpen) told.push(message);
        return isOpen;
      },
      onPreview: () => undefined,
    };
    const server: Server = { run: "1", api: "/api/v1/runs/1/", share: "", csrf: "", carrier };
    previews = new Previews(server, {
      answer: ({ cycle }, isLatest) => answers.push([cycle, isLatest]),
      problem: ({ message }) => problems.push(message),
      progress: ({ cycles }) => progress.push(cycles),
    });
  });

  afterEach(() => {
    vi.unstubAllGlobals();
  });

  test("are asked for over the line, and acknowledged", async () => {
    previews.ask(4, ["a"]);
    await carrier.onPreview(frame(1, 4));
    expect(told).toEqual([{ preview: { id: 1, cycle: 4, changes: ["a"] } }, { previewed: 1 }]);
    expect(answers).toEqual([[4, true]]);
  });

  test("show each step of a drag, and nothing older than what is shown", async () => {
    for (const change of ["a", "b", "c"]) previews.ask(4, [change]);
    await carrier.onPreview(frame(2, 4));
    await carrier.onPreview(frame(1, 4));
    await carrier.onPreview(frame(3, 4));
    expect(answers).toEqual([
      [4, false],
      [4, true],
    ]);
    expect(told.slice(3), "who is not acknowledged gets no more").toEqual(
      [2, 1, 3].map((previewed) => ({ previewed })),
    );
  });

  test("of another cycle, or of what is not wanted any more, are dropped", async () => {
    previews.ask(4, ["a"]);
    previews.ask(5, ["a"]);
    await carrier.onPreview(frame(1, 4));
    previews.forget();
    await carrier.onPreview(frame(2, 5));
    expect(answers).toEqual([]);
  });

  test("say how far the simulation is, and what is wrong with the newest", async () => {
    previews.ask(4, ["a"]);
    previews.ask(4, ["b"]);
    await carrier.onPreview({ type: "preview", id: 1, problem: { detail: "old" } });
    await carrier.onPreview({ type: "preview", id: 2, reenacting: { cycles: 3, of: 4 } });
    await carrier.onPreview({ type: "preview", id: 2, problem: { detail: "no such node" } });
    expect([progress, problems]).toEqual([[3], ["no such node"]]);
  });

  test.each([["before"], ["while"]])("come by request where the line is down %s one asks", async (when) => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", (url: string, { body }: { body: string }) => {
      asked.push(`${url} ${body}`);
      return Promise.resolve(new Response(encode(packed(4))));
    });
    isOpen = when === "while";
    previews.ask(4, ["a"]);
    if (isOpen) void carrier.onPreview(null);
    await vi.waitFor(() => expect(answers).toEqual([[4, true]]));
    expect(asked).toEqual(['/api/v1/runs/1/cycles/4/preview/ {"changes":["a"]}']);
  });
});
