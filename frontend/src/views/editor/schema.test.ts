import { expect, test } from "vitest";
import { fieldAt, fieldsAt, isIn, type Schema } from "./schema.ts";

const SCHEMA: Schema = {
  roots: { "": "Scenario", Pod: "Pod" },
  types: {
    Scenario: { steps: { type: "object", of: "Step", list: true } },
    Step: {
      at: { type: "string" },
      create: { type: "object", of: "*", list: true },
      config: { type: "object", of: "Config" },
    },
    Pod: {
      kind: { type: "string", values: ["Pod"] },
      spec: { type: "object", of: "Spec" },
      metadata: { type: "object" },
    },
    Spec: { nodeName: { type: "string" }, extra: { type: "object", of: "Extra", map: true } },
    Extra: { deep: { type: "boolean" } },
    Config: { args: { type: "any" }, "args@Fit": { type: "object", of: "Extra" } },
  },
};

const step = (key: string, kind = "", name = "") => ({ key, kind, name });
const HERE = { kind: "", name: "" };

test("the fields of a list's items", () => {
  expect(Object.keys(fieldsAt(SCHEMA, [], HERE))).toEqual(["steps"]);
  expect(Object.keys(fieldsAt(SCHEMA, [step("steps")], HERE))).toEqual(["at", "create", "config"]);
  expect(fieldsAt(SCHEMA, [step("nothing")], HERE)).toEqual({});
});

test("an object is what its kind says, also within a document", () => {
  const steps = [step("steps"), step("create"), step("spec", "Pod")];
  expect(Object.keys(fieldsAt(SCHEMA, steps, HERE))).toEqual(["nodeName", "extra"]);
  expect(Object.keys(fieldsAt(SCHEMA, steps.slice(0, 2), { kind: "Pod", name: "" }))).toContain("spec");
  expect(fieldsAt(SCHEMA, steps.slice(0, 2), HERE).kind?.values).toEqual(["Pod"]);
});

test("a document without a schema of the whole is an object", () => {
  const objects = { ...SCHEMA, roots: { Pod: "Pod" } };
  expect(Object.keys(fieldsAt(objects, [step("spec", "Pod")], HERE))).toEqual(["nodeName", "extra"]);
});

test("the keys of a map are anybody's, what is behind them is not", () => {
  const spec = [step("steps"), step("create"), step("spec", "Pod"), step("extra")];
  expect(fieldsAt(SCHEMA, spec, HERE)).toEqual({});
  expect(fieldAt(SCHEMA, [...spec, step("mine")], "deep", HERE)).toEqual({ type: "boolean" });
});

test("arguments depend on the name beside them", () => {
  const steps = [step("steps"), step("config")];
  expect(fieldAt(SCHEMA, steps, "args", { kind: "", name: "Fit" })?.of).toBe("Extra");
  expect(fieldAt(SCHEMA, steps, "args", HERE)?.type).toBe("any");
});

test("a field that a release lacks is not there for it", () => {
  const gate = { type: "boolean", releases: ["1.36.2"] } as const;
  expect([isIn(gate, "1.36.2"), isIn(gate, "1.37.2"), isIn(gate, "")]).toEqual([true, false, true]);
  expect(isIn({ type: "boolean" }, "1.37.2")).toBe(true);
});
