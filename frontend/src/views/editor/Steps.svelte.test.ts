import { fireEvent, render, screen } from "@testing-library/svelte";
import { expect, test, vi } from "vitest";

import Steps from "./Steps.svelte";

const STEPS = [
  { at_ns: 1e10, sentence: "cordon a", note: "", line: 3 },
  { at_ns: 4e10, sentence: "drain b", note: "evicts 2 pods", line: null },
];

test("steps are in a list by their times, and lead to their lines", async () => {
  const goTo = vi.fn();
  render(Steps, { label: "Steps", steps: STEPS, goTo });
  const list = screen.getByRole("list", { name: "Steps" });
  expect(list.textContent.replaceAll(/\s+/g, " ").trim()).toBe("10s cordon a 40s drain b evicts 2 pods");
  const [first, second] = screen.getAllByRole("button");
  expect(first?.style.getPropertyValue("--at")).toBe("0.2500");
  expect(first?.title).toBe("Line 3");
  await fireEvent.click(first!);
  await fireEvent.click(second!);
  expect(goTo.mock.calls).toEqual([[3]]);
});

test("a text without steps has no list", () => {
  render(Steps, { label: "Steps", steps: [], goTo: vi.fn() });
  expect(screen.queryByRole("list")).toBeNull();
});
