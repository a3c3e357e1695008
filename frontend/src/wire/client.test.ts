// The live connection against a server that speaks the contract: acknowledge, lose the line, resume
// after the last event, end.

import { gzipSync } from "node:zlib";

import { encode } from "@msgpack/msgpack";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { Client } from "./client.ts";
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
    client = new Client("ws://host/ws/runs/1/", "tok en", {
      headers: (bytes) => {
        if (bytes.length < 3) throw new Error("too short");
        return (last += 10);
      },
      status: () => undefined,
      link: (link) => links.push(link),
      failed: (error) => failures.push(error.message),
    });
    client.start();
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
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(last, "what the old line still says does not count").toBe(9);
  });

  test("ends when the run is over and all of it is here", async () => {
    const line = Line.opened[0]!;
    line.status("finished", 9);
    expect(links).not.toContain("ended");
    line.chunk(0, 10);
    await vi.waitFor(() => expect(links.at(-1)).toBe("ended"));
    expect(line.readyState).toBe(3);
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
