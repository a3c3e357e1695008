// @vitest-environment happy-dom

import { beforeEach, expect, test, vi } from "vitest";

import { followRunForm, isOwn } from "./run-form.ts";

beforeEach(() => {
  document.body.innerHTML = `
    <select id="snapshot"><option value="old">old</option>
      <option value="new" data-release="1.37.2 (nodes say v1.37.1)">new</option></select>
    <details><summary id="release-held"></summary><select id="release">
      <option value="auto" data-any="as the cluster says" data-this="auto: {release}"></option>
      <option value="1.36.2">v1.36.2</option></select></details>
    <details><summary><span data-holds="scheduler_config" data-own="own">default</span></summary>
      <a data-fill="scheduler_config" data-text="kind: A" data-replace="Replace?"><strong>Pack</strong></a>
      <textarea id="scheduler_config"></textarea></details>
    <details><select data-sample="scenario" data-replace="Replace?">
        <option value="">None</option><option value="drain" data-title="Drain" data-text="steps: [1]">Drain</option>
      </select><textarea id="scenario"></textarea></details>
    <details id="settings"><span data-holds="settings" data-none="defaults" data-changed="changed: {settings}"
        data-comma=", "></span>
      <label for="tie_break">Ties</label>
      <select id="tie_break" data-default="heap"><option>heap</option><option>draw</option></select>
      <div data-seed><label for="seed">Seed</label><input id="seed" value="7" data-default="0"></div></details>`;
  followRunForm();
});

const at = (selector: string) => document.querySelector<HTMLElement>(selector)!;
const area = (id: string) => at(`#${id}`) as HTMLTextAreaElement;

function choose(selector: string, value: string): void {
  const select = at(selector) as HTMLSelectElement;
  select.value = value;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

test("the release that is left to the cluster is named when one is chosen, in the line that is always shown", () => {
  choose("#snapshot", "new");
  expect(at("#release option").textContent).toBe("auto: 1.37.2 (nodes say v1.37.1)");
  expect(at("#release-held").textContent).toBe("auto: 1.37.2 (nodes say v1.37.1)");
  choose("#release", "1.36.2");
  expect(at("#release-held").textContent).toBe("v1.36.2");
  choose("#snapshot", "old");
  expect(at("#release option").textContent).toBe("as the cluster says");
});

test("a preset is written into its editor, and the fold says which", () => {
  at("[data-fill]").click();
  expect(area("scheduler_config").value).toBe("kind: A");
  expect(at("[data-holds=scheduler_config]").textContent).toBe("Pack");
});

test("what somebody wrote is replaced after a question only", () => {
  area("scheduler_config").value = "kind: Mine";
  vi.stubGlobal("confirm", () => false);
  at("[data-fill]").click();
  expect(area("scheduler_config").value).toBe("kind: Mine");
  vi.stubGlobal("confirm", () => true);
  at("[data-fill]").click();
  expect(area("scheduler_config").value).toBe("kind: A");
});

test("a sample that is refused is not chosen", () => {
  area("scenario").value = "steps: mine";
  vi.stubGlobal("confirm", () => false);
  choose("select[data-sample]", "drain");
  expect((at("select[data-sample]") as HTMLSelectElement).value).toBe("");
  expect(area("scenario").value).toBe("steps: mine");
  area("scenario").value = "";
  choose("select[data-sample]", "drain");
  expect(area("scenario").value).toBe("steps: [1]");
});

test("the seed shows where it counts, and only then it is a setting that was changed", () => {
  expect(at("[data-seed]").hidden).toBe(true);
  expect(at("[data-holds=settings]").textContent).toBe("defaults");
  choose("#tie_break", "draw");
  expect(at("[data-seed]").hidden).toBe(false);
  choose("#tie_break", "draw");
  expect(at("[data-holds=settings]").textContent).toBe("changed: Ties, Seed");
});

test("a text is somebody's own if it is none of those that are offered", () => {
  const offered = ["steps: []\n", "until: 5m"];
  expect(isOwn("steps:\n- at: 1s", offered)).toBe(true);
  expect(isOwn("  steps: []", offered)).toBe(false);
  expect(isOwn(" \n", offered)).toBe(false);
});
