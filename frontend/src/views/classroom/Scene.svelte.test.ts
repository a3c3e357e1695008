import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { beforeAll, expect, test, vi } from "vitest";

import { next, node, picture, podOn } from "./pictured.ts";
import Scene from "./Scene.svelte";

const GI = 1024 ** 3;
const ROOM = { cpu: [1800, 1800], memory: [3 * GI, 3 * GI] } as const;
const SHOP = next("default/shop", { requests: { cpu: 2000, memory: 8 * GI } });
const MOST = { cpu: 8000, memory: 15 * GI };
const SHOWN = { kinds: ["resources"], resources: ["cpu", "memory"], most: MOST, pod: SHOP };

const card = (name: string): HTMLElement => screen.getByText(name).closest<HTMLElement>("[data-node]")!;

beforeAll(() => void (document.documentElement.lang = "en"));

test("a node shows what is free, and nothing of what the question has to find out", () => {
  const { container } = render(Scene, { picture: picture({ ...SHOWN, nodes: [node("attic", { room: ROOM })] }) });
  expect(card("attic").textContent).toMatch(/cpu\s+1\.8[^]*memory\s+3Gi/);
  expect(container.querySelector("[data-node] u")).toBeNull();
  expect(screen.queryByText(/short/)).toBeNull();
});

test("once a cycle has decided, a node says by how much it is short", () => {
  render(Scene, {
    picture: picture({
      ...SHOWN,
      is_next: false,
      nodes: [node("attic", { room: ROOM, state: "rejected", says: "NodeResourcesFit" })],
    }),
  });
  expect(within(card("attic")).getByText(/✗/).textContent).toContain("short");
  expect(card("attic").querySelectorAll("u")).toHaveLength(2);
});

test("victims are named as such, in words as well", () => {
  const pods = [
    podOn("render-0", { requests: { cpu: 3000 }, priority: 100, is_victim: true, started: "2026-03-02T08:30:00Z" }),
  ];
  const nodes = [node("node-4", { pods, n_pods: 1, room: { cpu: [1000, 4000] } })];
  render(Scene, { picture: picture({ ...SHOWN, kinds: ["pods", "priorities", "resources"], nodes }) });
  expect(card("node-4").textContent).toMatch(/render-0[^]*wouldBeEvicted/);
});

test("a node is tapped only where that answers", async () => {
  const ontap = vi.fn();
  const { rerender } = render(Scene, { picture: picture({ ...SHOWN, nodes: [node("attic")] }), ontap });
  await fireEvent.click(screen.getByText("attic"));
  expect(ontap).not.toHaveBeenCalled();
  await rerender({ taps: ["attic"] });
  await fireEvent.click(screen.getByText("attic"));
  expect(ontap).toHaveBeenCalledWith("attic");
});
