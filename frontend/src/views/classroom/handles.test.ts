import { describe, expect, it } from "vitest";

import type { Handle } from "../../wire/classroom.ts";
import { byObject, lineFor } from "./handles.ts";

const handle = (more: Partial<Handle>): Handle => ({
  id: "h0",
  of: "pod/a/b",
  label: "",
  kind: "number",
  now: "1",
  options: [],
  line: "",
  unit: "",
  least: 0,
  most: null,
  step: "1",
  ...more,
});

describe("a handle of a task", () => {
  it("writes its line only when it is moved", () => {
    const memory = handle({ line: "pod/a/b set m=", unit: "Gi" });
    expect(["1", "", "2"].map((value) => lineFor(memory, value))).toEqual(["", "", "pod/a/b set m=2Gi"]);
    const options = [
      { value: "", text: "", line: "" },
      { value: "on", text: "", line: "node/n cordon" },
    ];
    const toggle = handle({ kind: "toggle", now: "", options });
    expect(["", "on", "other"].map((value) => lineFor(toggle, value))).toEqual(["", "node/n cordon", ""]);
    const back = handle({ kind: "toggle", now: "on", options: [{ value: "", text: "", line: "node/n uncordon" }] });
    expect(lineFor(back, "")).toBe("node/n uncordon");
  });

  it("stands with the others of its object", () => {
    const handles = ["x", "y", "x"].map((of) => handle({ of }));
    expect(byObject(handles).map(([of, all]) => [of, all.length])).toEqual([
      ["x", 2],
      ["y", 1],
    ]);
  });
});
