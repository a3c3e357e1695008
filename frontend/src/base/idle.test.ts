import { afterEach, expect, test, vi } from "vitest";
import { onIdle } from "./idle.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("what cannot be fetched ahead of its need is no error", async () => {
  const asked = vi.fn(() => Promise.reject(new Error("no network")));
  vi.stubGlobal("requestIdleCallback", (work: () => void) => work());
  const unhandled = vi.fn();
  process.on("unhandledRejection", unhandled);
  onIdle(asked);
  await new Promise((resolve) => setTimeout(resolve));
  process.off("unhandledRejection", unhandled);
  expect(asked).toHaveBeenCalledOnce();
  expect(unhandled).not.toHaveBeenCalled();
});

test("a browser without idle callbacks does it a little later", () => {
  vi.useFakeTimers();
  vi.stubGlobal("requestIdleCallback", undefined);
  Reflect.deleteProperty(globalThis, "requestIdleCallback");
  const work = vi.fn();
  onIdle(work);
  expect(work).not.toHaveBeenCalled();
  vi.runAllTimers();
  expect(work).toHaveBeenCalledOnce();
});
