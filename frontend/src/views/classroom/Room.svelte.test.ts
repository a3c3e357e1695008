// The page of somebody in a class: what is asked, answered and revealed there.

import { fireEvent, render, screen } from "@testing-library/svelte";
import type { ComponentProps } from "svelte";
import { afterEach, beforeAll, expect, test, vi } from "vitest";

import type { Asked, ClassState, Me } from "../../wire/classroom.ts";
import { next, node, picture } from "./pictured.ts";
import Room from "./Room.svelte";

const NODES = picture({ pod: next("default/shop"), nodes: [node("attic"), node("cellar")] });
const QUESTION = { vote: 7, number: 1, is_open: true, ask: "Where?", kind: "node", unit: "", options: [], votes: [] };
const NEW = { is_shown: false, is_own: false, is_second_try: false, wrong: [] };
const OPEN = { ...QUESTION, ...NEW, answer: null, answer_text: "", because: "", gain: null } as Asked;
const STATE = { is_open: true, title: "A lesson", number: 2, n_steps: 4, step_title: "A pod asks", leaders: [] };

const heard = (
  question: Asked | null,
  more: Partial<ClassState> = {},
  me: Me | null = null,
): ComponentProps<typeof Room> => {
  const state = { ...STATE, question, picture: NODES, marks: [], text: "<p>Read this.</p>", ...more } as never;
  const following = { state, me, pointer: null, link: "up" as const, point: vi.fn() };
  return { following, code: "ABCDEF", csrf: "", seat: 1 };
};

beforeAll(() => void (document.documentElement.lang = "en"));
afterEach(() => vi.unstubAllGlobals());

test("the cards of the nodes are the answers, and what is sent is what was chosen", async () => {
  const me = { type: "me", number: 1, name: "", vote: 7, given: "cellar" };
  const fetched = vi.fn().mockResolvedValue({ ok: true, status: 200, json: () => Promise.resolve(me) });
  vi.stubGlobal("fetch", fetched);
  render(Room, heard(OPEN));
  expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("Where?");
  await fireEvent.click(screen.getByRole("radio", { name: "cellar" }));
  await fireEvent.click(screen.getByRole("button", { name: "answer" }));
  expect(JSON.parse((fetched.mock.calls[0]![1] as { body: string }).body)).toEqual({ vote: 7, answer: "cellar" });
  await vi.waitFor(() => expect(screen.getByText(/yours ✓/)).toBeTruthy());
});

test("a number has buttons, and nothing is sent while there is none", async () => {
  const fetched = vi.fn();
  vi.stubGlobal("fetch", fetched);
  render(Room, heard({ ...OPEN, kind: "number", unit: "nodes" }));
  await fireEvent.click(screen.getByRole("button", { name: "answer" }));
  expect(fetched).not.toHaveBeenCalled();
  await fireEvent.click(screen.getByRole("button", { name: "more" }));
  await fireEvent.click(screen.getByRole("button", { name: "more" }));
  expect(screen.getByRole("textbox")).toHaveProperty("value", "2");
});

test("what is being typed stays when the picture comes, and what was answered shows when it is heard", async () => {
  const asked = { ...OPEN, kind: "number", unit: "nodes" } as Asked;
  const { rerender } = render(Room, heard(asked, { picture: null }));
  await fireEvent.input(screen.getByRole("textbox"), { target: { value: "1" } });
  await rerender(heard(asked));
  expect(screen.getByRole("textbox")).toHaveProperty("value", "1");
  await rerender(heard({ ...asked, vote: 8, number: 2 }));
  expect(screen.getByRole("textbox")).toHaveProperty("value", "");
  const me: Me = { type: "me", number: 1, name: "", vote: 8, given: "3", before: null };
  await rerender(heard({ ...asked, vote: 8, number: 2 }, {}, me));
  expect(screen.getByRole("textbox")).toHaveProperty("value", "3");
});

test("what is revealed marks the right card, and counts stand in the cards", () => {
  const counts = [
    { text: "attic", n: 1, right: true },
    { text: "cellar", n: 3, right: false },
  ];
  const votes = [{ number: 1, n: 4, counts }];
  const { container } = render(
    Room,
    heard({ ...OPEN, is_open: false, is_shown: true, answer: "attic", answer_text: "attic", votes }),
  );
  expect(container.querySelector(".nodecard--right")!.textContent).toContain("attic");
  expect(container.querySelector('[data-node="cellar"] .nodecard__votes')!.textContent).toContain("3");
  expect(container.querySelector("table")).toBeNull();
  expect(screen.queryByRole("radio")).toBeNull();
});

test("without a question the step is read first", () => {
  render(Room, heard(null));
  expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("A pod asks");
  expect(screen.getByText("Read this.")).toBeTruthy();
});
