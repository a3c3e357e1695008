// The story of a cycle, its points, and the plugins at one of them.

import { fireEvent, render, screen } from "@testing-library/svelte";
import { expect, test } from "vitest";

import { opened, type RunName } from "../../testing/opened.ts";
import Pipeline from "./Pipeline.svelte";

function show(run: RunName, search: string) {
  const explorer = opened(run, search);
  const { container } = render(Pipeline, { explorer });
  return { explorer, story: () => container.querySelector(".story")!.textContent.trim() };
}

test("what lies ahead is not given away", () => {
  show("why-pending", "?c=6&p=Filter");
  expect(screen.getByRole("button", { name: /^Score/ }).textContent).toContain("ahead");
});

test("plugins that skip themselves are folded away", async () => {
  show("why-pending", "?c=6&p=Filter");
  expect(screen.queryByRole("button", { name: /VolumeZone/ })).toBeNull();
  await fireEvent.click(screen.getByRole("button", { name: /^\d+ skipped/ }));
  screen.getByRole("button", { name: /VolumeZone/ });
});

test("a point and a plugin of it are opened, and the story is about them", async () => {
  const { explorer, story } = show("why-pending", "?c=6");
  expect(story()).toContain("tie at");
  await fireEvent.click(screen.getByRole("button", { name: /^Filter/ }));
  await fireEvent.click(screen.getByRole("button", { name: /TaintToleration/ }));
  expect(explorer.address).toMatchObject({ cycle: 6, point: "Filter", plugin: "TaintToleration" });
  expect(story()).toContain("TaintToleration rejects");
});

test("the plugin that preempts says what it did", () => {
  const { story } = show("preemption-budget", "?c=1&p=PostFilter&g=DefaultPreemption");
  expect(story()).toBe("DefaultPreemption nominates node-5 for payments/authorize-0; 1 pod there gives way.");
});

test.each(["?c=1", "?c=1&p=Permit", "?c=4"])("a pod that waits on Permit has not been rejected yet: %s", (search) => {
  const { story } = show("gangs", search);
  expect(story()).toMatch(
    /^(lab\/\S+ has a place on rig-\d, but waits on Permit|Permit: lab\/\S+ keeps its place on rig-1)/,
  );
});

test("PreFilter counts nodes only where it leaves some out", () => {
  show("why-pending", "?c=6&p=PreFilter");
  expect(screen.getByRole("button", { name: /^PreFilter/ }).textContent).not.toMatch(/\d/);
});
