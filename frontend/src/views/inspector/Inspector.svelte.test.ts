// What the tabs of the Inspector say of recorded runs.

import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { describe, expect, test } from "vitest";

import { narrate } from "../../store/narrate.ts";
import { opened, type RunName } from "../../testing/opened.ts";
import Inspector from "./Inspector.svelte";

/** The open tab's panel, once it holds a certain text. */
async function panelOf(run: RunName, search: string, awaited: string | RegExp) {
  const explorer = opened(run, search);
  render(Inspector, { explorer, page: { run: "/runs/1" } });
  const panel = within(screen.getByRole("tabpanel"));
  await panel.findAllByText(awaited);
  return { explorer, panel, text: screen.getByRole("tabpanel").textContent.replace(/\s+/g, " ") };
}

describe("Why", () => {
  test("says on how many nodes a pod found no place, and what may help", async () => {
    const { panel, text } = await panelOf("why-pending", "?c=11&pod=clinic/train-1", "From 5 nodes to 0");
    panel.getByRole("button", { name: /NodeResourcesFit/ });
    expect(text).toMatch(/0\/5 nodes are available: .*Insufficient nvidia/);
    panel.getByRole("heading", { name: "What happens next" });
    expect(text).toMatch(/NodeResourcesFit listens to .*PodDelete/);
  });

  test("names the event that requeued a pod, and the plugin that asked for it", async () => {
    const { panel } = await panelOf("preemption-budget", "?c=4&pod=payments/authorize-0", /after AssignedPodDelete/);
    const move = panel.getByText(/after AssignedPodDelete/).closest("li")!;
    expect(move.textContent).toContain("active");
    expect(move.textContent).toContain("NodeResourcesFit: Queue");
  });
});

test("Filter names the plugin that rejects the pod before any node", async () => {
  const { text } = await panelOf("why-pending", "?c=2&tab=filter", /rejects the pod before any node is examined/);
  expect(text).toMatch(/VolumeBinding rejects the pod .*: pod has unbound immediate PersistentVolumeClaims/);
});

describe("A nomination that was lost", () => {
  test.each([
    ["outbid", "?c=3", /Room there is made for one of higher priority: shop\/alarm-0 Cycle 2/],
    ["outbid", "?c=1&tab=preempt", /Room there is made for one of higher priority: shop\/alarm-0 Cycle 2/],
    ["lands-elsewhere", "?c=2", /It did not end up on node-1. It goes to node-2 instead. Cycle 2/],
  ] as const)("is told: %s%s", async (run, search, told) => {
    const { text } = await panelOf(run, search, /node-1 was nominated for it|It did not end up/);
    expect(text).toMatch(told);
  });

  test("is not told before", async () => {
    const { text } = await panelOf("outbid", "?c=1", /node-1 is nominated for it/);
    expect(text).not.toContain("Nomination lost");
  });
});

describe("Score", () => {
  test("adds up, and says that it was a tie", async () => {
    const { text } = await panelOf("why-pending", "?c=6&tab=score", /share the highest total/);
    expect(text).toContain("NodeResourcesFit 8282×1 82");
    expect(text).toContain("Total4560");
    expect(text).toContain("2 of 2 nodes share the highest total");
  });

  test("is not given away before it has run", async () => {
    await panelOf("why-pending", "?c=6&p=Filter&tab=score", "Score has not run yet at this point of the cycle.");
  });
});

describe("Preempt", () => {
  test("is read in three acts", async () => {
    const { explorer, panel, text } = await panelOf("preemption-budget", "?c=1&tab=preempt", /On each node/);
    for (const act of [/^On each node/, /^Choose among the candidates/, /^What follows/]) {
      panel.getByRole("heading", { name: act });
    }
    expect(text).toContain("may stay");
    expect(text).toMatch(
      /Latest start decided: \d{4}-\d\d-\d\d 09:00:00 on node-5, \d{4}-\d\d-\d\d 08:30:00 elsewhere\./,
    );
    expect(text).toContain("breaks budget ");
    expect(text).not.toContain("2³¹");
    panel.getByRole("columnheader", { name: "budgets broken" });
    panel.getByRole("row", { name: /chosen.*node-5/ });
    expect(panel.getByText(/is evicted/).closest("li")!.textContent).toContain("batch/render-1");
    await fireEvent.click(panel.getByRole("button", { name: "Next attempt: cycle 4" }));
    expect(explorer.navigation.position.cycle).toBe(4);
  });

  test("leads from one preemption of a cascade to the next", async () => {
    const { explorer, panel } = await panelOf("cascade", "?c=1&tab=preempt", /came back and evicts/);
    const tree = within(panel.getByRole("list", { name: "The cascade" }));
    tree.getByText(/low-b/);
    await fireEvent.click(tree.getByRole("button", { name: "Cycle 2" }));
    expect(explorer.navigation.position.cycle).toBe(2);
  });

  test("tries victims one by one", async () => {
    const { panel, text } = await panelOf("cascade", "?c=2&tab=preempt", /2 of 2 tried/);
    expect(text).toMatch(/low-a is evicted.*low-b is evicted/);
    const back = panel.getByRole("button", { name: "Back" });
    await fireEvent.click(back);
    panel.getByText(/1 of 2 tried/);
    await fireEvent.click(back);
    panel.getByText(/0 of 2 tried/);
    await fireEvent.click(panel.getByRole("button", { name: "Try the next" }));
    panel.getByText(/has to go/);
  });
});

describe("Filter", () => {
  test("asks again for verdicts that could not be loaded", async () => {
    let isThere = false;
    const explorer = opened("why-pending", "?c=6&tab=filter", (_, details) =>
      isThere ? details : Promise.reject(new Error("not now")),
    );
    render(Inspector, { explorer, page: { run: "/runs/1" } });
    const retry = await screen.findByRole("button", { name: "Try again" });
    isThere = true;
    await fireEvent.click(retry);
    await screen.findByRole("table", { name: "Filter verdicts, node by plugin" });
  });
});

describe("Picture", () => {
  test("is lit where the cycle stands, and where its pod does", async () => {
    const { explorer, panel } = await panelOf("why-pending", "?c=6&p=Filter&tab=picture", "Cycle 6 is at Filter.");
    const lit = (name: RegExp) =>
      [...panel.getByRole("img", { name }).querySelectorAll(".lit")].map((each) => each.textContent.trim());
    expect(lit(/all extension points/)).toEqual(["Filter"]);
    explorer.navigation.go({ cycle: 6, point: "Score", plugin: null });
    await panel.findByText("Cycle 6 is at Score.");
    expect(lit(/all extension points/)).toEqual(["Score", "NormalizeScore"]);
    expect(lit(/scheduling queue/)[0]).toContain("in flight");
    expect(panel.getByRole("img", { name: /scheduling queue/ }).querySelector(".lit .count")!.textContent).toBe("1");
  });
});

test("there is a tab for devices only where the cluster has some", async () => {
  await panelOf("why-pending", "?c=1&tab=devices", "clinic/analytics-0");
  screen.getByRole("tab", { name: "Why", selected: true });
  expect(screen.queryByRole("tab", { name: "Devices" })).toBeNull();
});

test("an old link to the cache opens the node", async () => {
  const { text } = await panelOf("why-pending", "?c=10&n=gpu-1&tab=cache", /What the scheduler knows of/);
  screen.getByRole("tab", { name: "Node", selected: true });
  expect(text).toContain("nvidia.com/gpu 1 / 1");
});

describe("The headline of a sample of a rare state", () => {
  test("says that a pod on Permit is rejected, not evicted", async () => {
    const { explorer, text } = await panelOf("permit-victim", "?c=2&tab=preempt", /is rejected on Permit/);
    expect(narrate(explorer)).toMatchObject({ key: "story.preemptsWaiting", params: { n: 1, node: "rig-1" } });
    expect(text).not.toContain("evicted");
  });

  test("does not count a victim that was leaving already", async () => {
    const { explorer, text } = await panelOf("outbid", "?c=2&tab=preempt", /What follows/);
    expect(narrate(explorer)).toMatchObject({ key: "story.preempts", params: { n: 1, node: "node-1" } });
    expect(text).toMatch(/shop\/web-0 is evicted.*shop\/report-0 stops already/);
    expect(text).toContain("shop/checkout-0 has a lower priority, and loses its nomination");
  });

  test("does not tell what the binding comes to later; of long errors Bind has the innermost", () => {
    expect(narrate(opened("bound-elsewhere", "?c=1"))).toMatchObject({ key: "story.tie", params: { node: "dock-1" } });
    const { params } = narrate(opened("bound-elsewhere", "?c=1&p=Bind"));
    expect(params).toMatchObject({ point: "Bind", reason: 'pod ferry-0 is already assigned to node "dock-2"' });
  });

  test("counts one node in words", () => {
    expect(narrate(opened("held-place", "?c=2"))).toMatchObject({ key: "story.fitsNowhereHeld", params: { n: 1 } });
  });
});
