// The live connection against a server that speaks the contract: acknowledge, lose the line, resume
// after the last event, end.

import { gzipSync } from "node:zlib";

import { decode, encode } from "@msgpack/msgpack";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { Cycle } from "../base/units.ts";
import { asking, Client, fetchDevices } from "./client.ts";
import type { Link, StatusFrame } from "./source.ts";

class Line {
  static readonly OPEN = 1;
  static opened: Line[] = [];
  readyState = Line.OPEN;
  binaryType = "";
  sent: string[] = [];
  onopen: () => void = () => undefined;
  onclose: (event: { code: number }) => void = () => undefined;
  onmessage: (event: { data: ArrayBuffer | string }) => void = () => undefined;

  constructor(readonly url: string) {
    Line.opened.push(this);
    queueMicrotask(() => this.onopen());
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(code = 1006): void {
    this.readyState = 3;
    this.onclose({ code });
  }

  chunk(first: number, n: number): void {
    const bytes = gzipSync(encode([first, Array.from({ length: n }, () => ["Invented"])]));
    this.onmessage({ data: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) });
  }

  detail(cycle: number, value: string): void {
    const packed = gzipSync(encode(value));
    const frame = new Uint8Array(5 + packed.length);
    frame[0] = 0x01;
    new DataView(frame.buffer).setUint32(1, cycle);
    frame.set(packed, 5);
    this.onmessage({ data: frame.buffer });
  }

  missing(cycle: number): void {
    this.onmessage({ data: JSON.stringify({ type: "missing", cycle }) });
  }

  status(status: StatusFrame["status"], last: number): void {
    this.onmessage({
      data: JSON.stringify({ type: "status", status, cycles: 1, bound: 0, pending: 0, last_seq: last }),
    });
  }
}

describe("the live connection", () => {
  const links: Link[] = [];
  const failures: string[] = [];
  let last = -1;
  let client: Client;

  beforeEach(() => {
    vi.stubGlobal("WebSocket", Line);
    Line.opened = [];
    links.length = failures.length = 0;
    last = -1;
    client = new Client("ws://host/ws/runs/1/", "tok en");
    client.start({
      headers: (bytes) => {
        if (bytes.length < 3) throw new Error("too short");
        return (last += 10);
      },
      status: () => undefined,
      link: (link) => links.push(link),
      failed: (error) => failures.push(error.message),
      detail: () => undefined,
    });
  });

  afterEach(() => {
    client.stop();
    vi.unstubAllGlobals();
  });

  test("asks for everything, and acknowledges what it took", async () => {
    const line = Line.opened[0]!;
    expect(line.url).toBe("ws://host/ws/runs/1/?after=-1&share=tok%20en");
    line.chunk(0, 10);
    await vi.waitFor(() => expect(line.sent).toEqual(['{"ack":9}']));
  });

  test("comes back after a break and asks from where it was", async () => {
    const line = Line.opened[0]!;
    line.chunk(0, 10);
    await vi.waitFor(() => expect(last).toBe(9));
    line.close();
    expect(links.at(-1)).toBe("waiting");
    await vi.waitFor(() => expect(Line.opened.length).toBe(2), { timeout: 2000 });
    expect(Line.opened[1]!.url).toContain("after=9");
    line.chunk(10, 10);
    Line.opened[1]!.chunk(10, 10);
    await vi.waitFor(() => expect(Line.opened[1]!.sent).toEqual(['{"ack":19}']));
    expect(last, "what the old line still says does not count").toBe(19);
  });

  test("ends when the run is over and all of it is here", async () => {
    const line = Line.opened[0]!;
    line.status("finished", 9);
    expect(links).not.toContain("ended");
    line.chunk(0, 10);
    await vi.waitFor(() => expect(links.at(-1)).toBe("ended"));
    expect(line.readyState, "the line stays open for details").toBe(Line.OPEN);
    expect(Line.opened.length).toBe(1);
  });

  test("does not ask again for a run it may not see", () => {
    Line.opened[0]!.close(4404);
    expect(links.at(-1)).toBe("refused");
  });

  test("stops and says why when a chunk cannot be read", async () => {
    const line = Line.opened[0]!;
    line.onmessage({ data: new TextEncoder().encode("no gzip").buffer });
    await vi.waitFor(() => expect(failures.length).toBe(1));
    expect(line.readyState).toBe(3);
  });
});

describe("details over the line", () => {
  const pushed: string[] = [];
  let client: Client;

  beforeEach(async () => {
    vi.stubGlobal("WebSocket", Line);
    Line.opened = [];
    pushed.length = 0;
    client = new Client("ws://host/ws/runs/1/", "");
    client.start({
      headers: () => 9,
      status: () => undefined,
      link: () => undefined,
      failed: (error) => pushed.push(error.message),
      detail: (cycle, bytes) => pushed.push(`${cycle} ${decode(bytes) as string}`),
    });
    await Promise.resolve();
  });

  afterEach(() => {
    client.stop();
    vi.unstubAllGlobals();
  });

  const ask = (cycle: Cycle, signal = new AbortController().signal): Promise<string> =>
    client.detail(cycle, signal).then((bytes) => decode(bytes) as string);
  const sent = (line = Line.opened.at(-1)!): unknown[] => line.sent.map((text) => JSON.parse(text) as unknown);

  test("what is asked for in one go is one message, and what comes is acknowledged", async () => {
    const [six, seven] = [ask(6), ask(7)];
    await Promise.resolve();
    expect(sent()).toEqual([{ details: [6, 7] }]);
    Line.opened[0]!.detail(6, "six");
    Line.opened[0]!.detail(7, "seven");
    expect(await Promise.all([six, seven])).toEqual(["six", "seven"]);
    expect(sent().slice(1)).toEqual([{ got: 6 }, { got: 7 }]);
    expect(pushed).toEqual([]);
  });

  test("what is given up is wanted no more", async () => {
    const controller = new AbortController();
    const given = ask(6, controller.signal);
    void ask(7).catch(() => undefined);
    await Promise.resolve();
    controller.abort();
    await expect(given).rejects.toThrow("given up");
    expect(sent()).toEqual([{ details: [6, 7] }, { details: [7] }]);
  });

  test("a cycle that is not recorded is refused", async () => {
    const found = ask(6);
    Line.opened[0]!.missing(6);
    await expect(found).rejects.toThrow("not recorded");
  });

  test("the newest comes unasked while the run is followed", async () => {
    client.follow(true);
    Line.opened[0]!.detail(3, "three");
    await vi.waitFor(() => expect(pushed).toEqual(["3 three"]));
    client.follow(false);
    Line.opened[0]!.detail(4, "four");
    await vi.waitFor(() => expect(sent()).toContainEqual({ got: 4 }));
    expect(sent()[0]).toEqual({ following: true });
    expect(pushed).toEqual(["3 three"]);
  });

  test("after a break it is asked for again on the new line", async () => {
    client.follow(true);
    const found = ask(6);
    await Promise.resolve();
    Line.opened[0]!.close();
    await vi.waitFor(() => expect(Line.opened.length).toBe(2), { timeout: 2000 });
    await vi.waitFor(() => expect(sent()).toEqual([{ following: true }, { details: [6] }]));
    Line.opened[1]!.detail(6, "six");
    expect(await found).toBe("six");
  });

  test("a line that broke when all was here is opened when a detail is wanted", async () => {
    const line = Line.opened[0]!;
    line.chunk(0, 10);
    line.status("finished", 9);
    await vi.waitFor(() => expect(sent()).toEqual([{ ack: 9 }]));
    await new Promise((resolve) => setTimeout(resolve, 0));
    line.close();
    expect(Line.opened.length).toBe(1);
    const found = ask(2);
    await vi.waitFor(() => expect(Line.opened.length).toBe(2));
    expect(Line.opened[1]!.url).toContain("after=9");
    await vi.waitFor(() => expect(sent()).toEqual([{ details: [2] }]));
    Line.opened[1]!.close();
    await expect(found).rejects.toThrow("the connection is lost");
  });
});

describe("what the server simulates again", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const answer = (status: number, body: object): Response =>
    new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });

  test("a server at work for somebody else is asked again", async () => {
    const fetch = vi.fn<(url: string) => Promise<Response>>();
    fetch.mockResolvedValueOnce(answer(503, { detail: "busy" })).mockResolvedValueOnce(answer(200, { n_nodes: 2 }));
    vi.stubGlobal("fetch", fetch);
    const found = fetchDevices(asking("/api/", "tok en"))(3, "a b");
    await vi.advanceTimersByTimeAsync(2000);
    expect(await found).toEqual({ n_nodes: 2 });
    expect(fetch).toHaveBeenCalledTimes(2);
    expect(fetch.mock.calls[0]![0]).toBe("/api/cycles/3/devices/?node=a%20b&share=tok%20en");
  });

  test("a text comes as it is", async () => {
    const headers = { "Content-Type": "text/markdown; charset=utf-8" };
    vi.stubGlobal("fetch", () => Promise.resolve(new Response("**a**", { headers })));
    expect(await asking("/api/", "")("pods/a/", new AbortController().signal)).toBe("**a**");
  });

  test("a refusal says why", async () => {
    vi.stubGlobal("fetch", () => Promise.resolve(answer(409, { detail: "too far" })));
    await expect(fetchDevices(asking("/api/", ""))(3, "")).rejects.toThrow("too far");
  });
});
