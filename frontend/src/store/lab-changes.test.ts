// The list of what is tried: one change per subject, written into addresses and read again.

import { describe, expect, test } from "vitest";

import { inOrder, NOTHING, read, subject, withChange, without, written, type Change } from "./lab-changes.ts";

const weight = (n: number): Change => ({ weight: { plugin: "ImageLocality", weight: n } });
const tolerate = (key: string): Change => ({
  set: { kind: "Pod", namespace: "shop", name: "web", path: "spec.tolerations[+]", value: { key, operator: "Exists" } },
});

describe("the list of changes", () => {
  test("has one change per subject, in the place of the first", () => {
    const changes = [weight(2), tolerate("gpu")].reduce(withChange, [] as readonly Change[]);
    expect(withChange(changes, weight(5))).toEqual([weight(5), tolerate("gpu")]);
    expect(withChange(changes, tolerate("disk"))).toEqual([weight(2), tolerate("gpu"), tolerate("disk")]);
    expect(without(changes, subject(weight(9)))).toEqual([tolerate("gpu")]);
  });

  test("cordon and uncordon, taint and untaint, label and unlabel are about the same", () => {
    expect(subject({ cordon: "n1" })).toBe(subject({ uncordon: "n1" }));
    expect(subject({ taint: { node: "n1", key: "k", value: "v", effect: "NoSchedule" } })).toBe(
      subject({ untaint: { node: "n1", key: "k", effect: "NoSchedule" } }),
    );
    expect(subject({ label: { node: "n1", key: "k", value: "v" } })).toBe(
      subject({ unlabel: { node: "n1", key: "k" } }),
    );
  });

  test("is read as it was written, in letters that need no escape", () => {
    const changes = [weight(2), tolerate("größe/☃"), { cordon: "n?/~" }];
    expect(written(changes)).toMatch(/^[\w-]+$/);
    expect(read(written(changes))).toEqual(changes);
    expect(written([])).toBe(NOTHING);
    expect(read(NOTHING)).toEqual([]);
  });

  test("takes elements of lists away last, the last one first, and objects at the end", () => {
    const set = (path: string, value: string | null): Change => ({
      set: { kind: "Pod", namespace: "shop", name: "web", path, value },
    });
    const gone: Change = { delete: { kind: "Node", name: "n1" } };
    const list = [gone, set("a[2]", null), set("a[10]", null), set("a[2].b", "x"), set("a", null), { cordon: "n1" }];
    expect(inOrder(list)).toEqual([
      set("a[2].b", "x"),
      { cordon: "n1" },
      set("a[10]", null),
      set("a[2]", null),
      set("a", null),
      gone,
    ]);
  });

  test.each(["W3sid2", "e30", btoa('[{"launch":1}]'), btoa('[{"cordon":"a","weight":1}]'), "ä"])(
    "does not read %s",
    (text) => {
      expect(read(text)).toBeNull();
    },
  );
});
