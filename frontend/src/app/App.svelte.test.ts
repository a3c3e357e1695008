// The whole Explorer on one recorded run: keys, dialogs, what is kept, where the back button leads.

import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { beforeEach, expect, test } from "vitest";

import { opened } from "../testing/opened.ts";
import type { Explorer } from "../store/explorer.ts";
import App from "./App.svelte";
import { inQuery, type Surroundings } from "./place.ts";

const PAGE: Surroundings = {
  name: "A run",
  home: "/",
  run: "/runs/1",
  classic: false,
  optimum: "",
  downloads: [],
  server: null,
};

beforeEach(() => localStorage.clear());

function show(search: string): Explorer {
  history.replaceState(null, "", `/runs/1/explore${search}`);
  const explorer = opened("why-pending", search);
  render(App, { explorer, place: inQuery, page: PAGE, follow: () => undefined });
  return explorer;
}

const press = (key: string, more = {}) => fireEvent.keyDown(document.body, { key, ...more });
const place = () => screen.getByRole("navigation", { name: "Where you are" }).textContent;

test("keys step to one plugin of a point, and back out", async () => {
  const explorer = show("?c=6");
  for (const key of ["]", "ArrowRight", "ArrowRight", "]", "ArrowRight", "ArrowRight"]) await press(key);
  expect(explorer.address).toMatchObject({ cycle: 6, point: "Filter", plugin: "TaintToleration" });
  expect(place()).toMatch(/Cycle 6.*Filter.*TaintToleration/s);
  await press("[");
  await press("[");
  expect(place()).not.toContain("Filter");
  await press("ArrowLeft");
  expect(explorer.navigation.position.cycle).toBe(5);
});

test("the line to the run is said to be lost, and to be there again", async () => {
  const explorer = show("");
  explorer.hear({ link: "waiting" });
  await screen.findByText("Reconnecting");
  explorer.hear({ link: "ended" });
  await screen.findByText("Recorded");
});

test("the help lists every key, and single keys can be switched off", async () => {
  show("");
  await press("?");
  const help = within(await screen.findByRole("dialog", { name: "Keys and signs" }));
  for (const words of [/^Step forward/, /^Next failure/, /^Map as a table/, /not evaluated/]) {
    help.getByText(words);
  }
  await fireEvent.click(help.getByLabelText("Use keys without Ctrl or Alt"));
  await fireEvent.click(help.getByRole("button", { name: "Close" }));
  await press("t");
  expect(screen.queryByRole("table", { name: "Nodes" })).toBeNull();
  await press("k", { ctrlKey: true });
  await screen.findByLabelText("Find a pod, node, cycle or command");
});

test("a bookmark keeps a place and a note", async () => {
  show("?c=4");
  await press("m");
  await fireEvent.input(await screen.findByLabelText("Note"), { target: { value: "taints" } });
  await fireEvent.submit(screen.getByLabelText("Note").closest("form")!);
  const again = opened("why-pending", "?c=4");
  expect(again.bookmarks.list).toMatchObject([{ position: { cycle: 4 }, note: "taints" }]);
});

test("the address is written, and what it is turned back to is shown", () => {
  const explorer = show("?c=6");
  explorer.navigation.go({ cycle: 6, point: "Filter", plugin: null });
  explorer.selection.select({ tab: "score" });
  expect(location.search).toMatch(/c=6&p=Filter.*tab=score/);
  history.replaceState(null, "", "?c=6");
  window.dispatchEvent(new PopStateEvent("popstate"));
  expect(explorer.address).toMatchObject({ cycle: 6, point: null, tab: "why" });
});

test("a tour that is declined is not offered again", async () => {
  show("");
  await fireEvent.click(screen.getByRole("button", { name: "No, thanks" }));
  expect(screen.queryByRole("button", { name: "Take the tour" })).toBeNull();
  expect(localStorage.getItem("kviz.tour")).toBe("seen");
});
