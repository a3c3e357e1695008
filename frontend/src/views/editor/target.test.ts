// @vitest-environment happy-dom

import { expect, test, vi } from "vitest";
import { targetOf } from "./target.ts";

const FORM = `<form>
  <select name="snapshot">
    <option value="a" data-release="1.37.2 (nodes say v1.37.1)"></option>
    <option value="b"></option></select>
  <select name="release"><option value="auto"></option><option value="1.36.3"></option></select></form>`;

function form(): { form: HTMLFormElement; choose: (name: string, value: string) => void } {
  document.body.innerHTML = FORM;
  const form = document.forms[0]!;
  const choose = (name: string, value: string): void => {
    const select = form.querySelector<HTMLSelectElement>(`[name=${name}]`)!;
    select.value = value;
    select.dispatchEvent(new Event("change"));
  };
  return { form, choose };
}

test("a text is written for the release that is chosen, else for the cluster's", () => {
  const made = form();
  const target = targetOf(made.form);
  const changed = vi.fn();
  target.onChange(changed);
  expect(target.release()).toBe("1.37.2");
  made.choose("release", "1.36.3");
  expect([target.release(), target.asked()]).toEqual(["1.36.3", { release: "1.36.3", snapshot: "a" }]);
  made.choose("release", "auto");
  made.choose("snapshot", "b");
  expect([target.release(), changed.mock.calls.length]).toEqual(["", 3]);
});

test("a form without these choices asks for nothing", () => {
  document.body.innerHTML = "<form></form>";
  const target = targetOf(document.forms[0] ?? null);
  expect([target.release(), target.asked(), targetOf(null).release()]).toEqual(["", {}, ""]);
});
