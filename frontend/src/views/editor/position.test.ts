import { expect, test } from "vitest";
import { positionAt } from "./position.ts";

/** The place of the `|` in a text. */
function at(text: string) {
  const lines = text.split("\n");
  const line = lines.findIndex((each) => each.includes("|"));
  const column = (lines[line] ?? "").indexOf("|");
  lines[line] = (lines[line] ?? "").replace("|", "");
  const found = positionAt(lines, line, column);
  return { ...found, path: found.steps.map((step) => step.key).join(".") };
}

const POD = `
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - name: c
    resources:
      requests:
        cpu: 1
  tolerations:
    - key: gpu
      operator: Exists
`;

test("a key at the root", () => {
  const found = at("kind: Pod\nsp|");
  expect(found).toMatchObject({
    path: "",
    key: null,
    prefix: "sp",
    here: { kind: "Pod", name: "" },
    present: ["kind"],
  });
});

test("a key within objects", () => {
  expect(at(`${POD.replace("  tolerations", "  nod|\n  tolerations")}`)).toMatchObject({
    path: "spec",
    prefix: "nod",
    present: ["containers", "tolerations"],
  });
});

test("lists at the column of their key, and further in", () => {
  expect(at(POD.replace("    resources:", "    ima|\n    resources:"))).toMatchObject({
    path: "spec.containers",
    present: ["name", "resources"],
    here: { name: "c", kind: "" },
  });
  expect(at(POD.replace("      operator: Exists", "      operator: Ex|"))).toMatchObject({
    path: "spec.tolerations",
    key: "operator",
    prefix: "Ex",
    present: ["key"],
  });
  expect(at(POD.replace("- name: c", "- |"))).toMatchObject({ path: "spec.containers", key: null, prefix: "" });
  expect(at(POD.replace("    - key: gpu", "    - ke|"))).toMatchObject({ path: "spec.tolerations", prefix: "ke" });
});

test("deeper within an item", () => {
  expect(at(POD.replace("        cpu: 1", "        m|"))).toMatchObject({ path: "spec.containers.resources.requests" });
});

test("an empty line counts by its column", () => {
  expect(at("kind: Pod\nspec:\n  |")).toMatchObject({ path: "spec", prefix: "" });
  expect(at("kind: Pod\nspec:\n|")).toMatchObject({ path: "", prefix: "" });
});

test("documents are apart, and comments say nothing", () => {
  const found = at("kind: Node\n---\n# kind: Service\nkind: Pod # here\nspec:\n  # containers:\n  x|\n---\nkind: Node");
  expect(found).toMatchObject({ path: "spec", prefix: "x", present: [] });
  expect(found.steps[0]).toEqual({ key: "spec", kind: "Pod", name: "" });
});

test("arguments know the name of their plugin", () => {
  const found = at("profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      sc|");
  expect(found.steps).toEqual([
    { key: "profiles", kind: "", name: "" },
    { key: "pluginConfig", kind: "", name: "" },
    { key: "args", kind: "", name: "NodeResourcesFit" },
  ]);
});
