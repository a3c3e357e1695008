// A server that cannot be reached, and one that fails without words, are told of in words of ours.

import { afterEach, expect, test, vi } from "vitest";

import { t } from "../base/text/text.ts";
import { asking } from "./client.ts";
import { fetchPreview, Refused } from "./preview.ts";
import { reach } from "./reaching.ts";

afterEach(() => vi.unstubAllGlobals());

const answers = (answer: () => Promise<Response>): void => void vi.stubGlobal("fetch", vi.fn(answer));
const page = (status: number): Response =>
  new Response("<h1>Bad Gateway</h1>", { status, headers: { "Content-Type": "text/html" } });
const never = new AbortController().signal;
const server = { api: "/api/v1/runs/1/", share: "", csrf: "" };

test("a server that is away", async () => {
  answers(() => Promise.reject(new TypeError("Failed to fetch")));
  await expect(asking("/api/", "")("cycles/1/", never)).rejects.toThrow(t("server.unreachable"));
});

test("a page of a proxy is no answer", async () => {
  answers(() => Promise.resolve(page(502)));
  await expect(asking("/api/", "")("cycles/1/", never)).rejects.toThrow(t("server.failed", { status: 502 }));
});

test("what the server says is passed on", async () => {
  answers(() => Promise.resolve(Response.json({ detail: "没有这次运行。" }, { status: 404 })));
  await expect(asking("/api/", "")("cycles/1/", never)).rejects.toThrow("没有这次运行。");
});

test("who gave up hears of that", async () => {
  const controller = new AbortController();
  controller.abort();
  answers(() => Promise.reject(new DOMException("aborted", "AbortError")));
  await expect(reach("/x", { signal: controller.signal })).rejects.toThrow("aborted");
});

test("a preview that a proxy refuses", async () => {
  answers(() => Promise.resolve(page(504)));
  const asked = fetchPreview(server as never, 1, [], never);
  await expect(asked).rejects.toThrow(t("server.failed", { status: 504 }));
  await expect(asked).rejects.toBeInstanceOf(Refused);
});
