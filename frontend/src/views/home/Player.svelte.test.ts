import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, beforeEach, test, vi } from "vitest";

import Player from "./Player.svelte";
import type { Recorded } from "./recorded.ts";

const RUN: Recorded = {
  nodes: ["a", "b"],
  cycles: [
    { pod: "web", node: "b", rejected_by: ["", ""], totals: [10, 20] },
    { pod: "gpu", node: "a", rejected_by: ["", "NodeAffinity"], totals: null },
  ],
};
const TEXTS = {
  filter: "{n} of {all} can take {pod}",
  single: "only {node} can take {pod}",
  score: "{node} comes first of {n} with {total}",
  tie: "{tied} of {n} tie at {total}",
  bind: "{pod} goes to {node}",
  map: "The nodes",
  pause: "Pause",
  play: "Play",
  at: "Pod {n} of {all}",
  source: "A recorded run",
};
const STEP_MS = 1700;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const passes = (steps: number) => vi.advanceTimersByTimeAsync(steps * STEP_MS);

test("it plays step after step, and begins again", async () => {
  render(Player, { run: RUN, texts: TEXTS });
  screen.getByText("2 of 2 can take web");
  await passes(1);
  screen.getByText("b comes first of 2 with 20");
  await passes(2);
  screen.getByText("only a can take gpu");
  screen.getByText("Pod 2 of 2");
  await passes(2);
  screen.getByText("2 of 2 can take web");
});

test("it pauses by its button, and goes on from there", async () => {
  render(Player, { run: RUN, texts: TEXTS });
  await fireEvent.click(screen.getByRole("button", { name: "Pause" }));
  await passes(5);
  screen.getByText("2 of 2 can take web");
  await fireEvent.click(screen.getByRole("button", { name: "Play" }));
  await passes(1);
  screen.getByText("b comes first of 2 with 20");
});

test("it stands still while nobody can see it", async () => {
  render(Player, { run: RUN, texts: TEXTS });
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  await fireEvent(document, new Event("visibilitychange"));
  await passes(5);
  screen.getByText("2 of 2 can take web");
  hidden.mockReturnValue(false);
  await fireEvent(document, new Event("visibilitychange"));
  await passes(1);
  screen.getByText("b comes first of 2 with 20");
});
