// The edge between two parts, moved with the keyboard.

import { fireEvent, render, screen } from "@testing-library/svelte";
import { expect, test, vi } from "vitest";

import Splitter from "./Splitter.svelte";

test("widens what is behind it by steps, within its limits, and goes back to the first width", async () => {
  const onwidth = vi.fn();
  const onreset = vi.fn();
  render(Splitter, { label: "Width", width: 300, least: 280, most: 310, onwidth, onreset });
  const edge = screen.getByRole("separator", { name: "Width" });
  expect(edge.getAttribute("aria-valuenow")).toBe("300");
  for (const key of ["ArrowLeft", "ArrowRight", "Home", "End"]) await fireEvent.keyDown(edge, { key });
  expect(onwidth.mock.calls.flat()).toEqual([310, 284, 280, 310]);
  await fireEvent.dblClick(edge);
  expect(onreset).toHaveBeenCalledOnce();
});
