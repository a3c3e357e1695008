import { describe, expect, test, vi } from "vitest";

import { Bookmarks } from "./bookmarks.svelte.ts";
import { Commands, keyLabel, keyName } from "./commands.ts";

const press = (key: string, held: Partial<Record<"ctrlKey" | "metaKey" | "altKey" | "shiftKey", boolean>> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

describe("keys", () => {
  test.each([
    [press(" "), "Space"],
    [press("n"), "n"],
    [press("N", { shiftKey: true }), "N"],
    [press("ArrowLeft", { shiftKey: true }), "Shift+ArrowLeft"],
    [press("k", { ctrlKey: true }), "Ctrl+K"],
    [press("k", { metaKey: true }), "Ctrl+K"],
    [press("?", { shiftKey: true }), "?"],
  ])("%o is %s", (event, name) => expect(keyName(event)).toBe(name));

  test("are written as on a keyboard", () => expect(keyLabel("Shift+ArrowLeft")).toBe("Shift ←"));
});

describe("the registry", () => {
  const make = () => {
    const run = vi.fn();
    const commands = new Commands();
    commands.add({ id: "go", title: "command.play", group: "move", keys: ["g", "Ctrl+G"], run });
    return { commands, run };
  };

  test("finds commands by key, single keys only where they are wanted", () => {
    const { commands } = make();
    expect(commands.forKey(press("g"), true)?.id).toBe("go");
    expect(commands.forKey(press("g"), false)).toBeNull();
    expect(commands.forKey(press("g", { ctrlKey: true }), false)?.id).toBe("go");
  });

  test("refuses a key or a name taken twice", () => {
    const { commands, run } = make();
    expect(() => commands.add({ id: "go", title: "command.play", group: "move", keys: [], run })).toThrow();
    expect(() => commands.add({ id: "new", title: "command.play", group: "move", keys: ["g"], run })).toThrow();
  });

  test("does not run what is not possible now", () => {
    const { commands } = make();
    const run = vi.fn();
    commands.add({ id: "no", title: "command.play", group: "move", keys: ["x"], run, enabled: () => false });
    commands.run("no");
    expect(run).not.toHaveBeenCalled();
    expect(commands.forKey(press("x"), true)).toBeNull();
  });
});

describe("bookmarks", () => {
  const storage = () => {
    const kept = new Map<string, string>();
    return {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
  };
  const at = (cycle: number) => ({ cycle, point: null, plugin: null });

  test("are kept per run, one for a cycle, in order", () => {
    const store = storage();
    const marks = new Bookmarks("a", store);
    marks.put(at(9), "late");
    marks.put(at(2), "early");
    marks.put(at(9), "later");
    const again = new Bookmarks("a", store);
    expect(again.list.map((mark) => [mark.position.cycle, mark.note])).toEqual([
      [2, "early"],
      [9, "later"],
    ]);
    expect(new Bookmarks("b", store).list).toEqual([]);
    again.remove(2);
    expect(again.at(at(2))).toBeUndefined();
  });

  test.each(["nonsense", "{}", '[1, null, {"position": {}}]'])("survive %s in the storage", (text) => {
    const store = storage();
    store.setItem("kviz.bookmarks.a", text);
    expect(new Bookmarks("a", store).list).toEqual([]);
  });
});
