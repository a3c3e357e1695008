// The menu of exports, as the keyboard knows it.

import { fireEvent, render, screen } from "@testing-library/svelte";
import { beforeEach, expect, test, vi } from "vitest";

import { opened } from "../../testing/opened.ts";
import ExportMenu from "./ExportMenu.svelte";

const run = vi.fn();
const onclose = vi.fn();

beforeEach(() => {
  vi.resetAllMocks();
  const explorer = opened("preemption-budget", "?c=1");
  render(ExportMenu, { explorer, name: "A run", downloads: [], run, onclose });
});

const press = (key: string) => fireEvent.keyDown(document.activeElement!, { key });
const focused = (): string => document.activeElement!.textContent.trim();

test("is walked with the arrows, from end to end, and by first letters", async () => {
  const [first] = screen.getAllByRole("menuitem");
  expect(document.activeElement).toBe(first);
  await press("End");
  expect(focused()).toBe("Cycles");
  await press("ArrowDown");
  expect(document.activeElement).toBe(first);
  await press("q");
  expect(focused()).toBe("Queues");
  await press("Escape");
  expect(onclose).toHaveBeenCalledOnce();
});

test("hands over what is chosen, but not what does not exist in the cycle", async () => {
  const scores = screen.getByRole("menuitem", { name: "Scores: nodes by plugin" });
  expect(scores.getAttribute("aria-disabled")).toBe("true");
  await fireEvent.click(scores);
  expect(run).not.toHaveBeenCalled();
  expect(onclose).not.toHaveBeenCalled();
  await fireEvent.click(screen.getByRole("menuitem", { name: "Queues" }));
  expect(run).toHaveBeenCalledExactlyOnceWith("csv-queues");
});

test("has no files where no server makes them", () => {
  expect(screen.queryByRole("menuitem", { name: /Run as a file/ })).toBeNull();
});
