// @vitest-environment happy-dom

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { keepDrafts, keyOf } from "./drafts.ts";

const PAGE = `
  <main id="main" tabindex="-1"></main>
  <div data-draft-notice hidden><button type="button">Start over</button></div>
  <form data-drafts="new">
    <textarea name="text">as it came</textarea>
    <select name="release"><option>1.37</option><option>1.36</option></select>
    <details><input name="seed" value="0"></details>
    <input type="hidden" name="token" value="x">
  </form>`;

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  sessionStorage.clear();
});
afterEach(() => void vi.useRealTimers());

/** Open the page, as if anew. */
function open(): HTMLFormElement {
  document.body.innerHTML = PAGE;
  keepDrafts();
  return document.querySelector("form")!;
}

const field = (form: HTMLFormElement, name: string) => form.elements.namedItem(name) as HTMLInputElement;

function type(form: HTMLFormElement, name: string, text: string): void {
  field(form, name).value = text;
  field(form, name).dispatchEvent(new Event("input"));
  vi.runAllTimers();
}

test("what is typed is there again when the page is opened again, and what holds it is open", () => {
  type(open(), "seed", "7");
  const again = open();
  expect(field(again, "seed").value).toBe("7");
  expect(field(again, "text").value).toBe("as it came");
  expect(document.querySelector("details")!.open).toBe(true);
  expect(document.querySelector<HTMLElement>("[data-draft-notice]")!.hidden).toBe(false);
});

test("starting over forgets the draft", () => {
  type(open(), "text", "mine");
  const again = open();
  document.querySelector<HTMLElement>("[data-draft-notice] button")!.click();
  expect(field(again, "text").value).toBe("as it came");
  expect(field(open(), "text").value).toBe("as it came");
});

test("what is as it came is no draft, nor is what a list no longer offers", () => {
  const form = open();
  type(form, "text", "mine");
  type(form, "text", "as it came");
  expect(localStorage.length).toBe(0);
  localStorage.setItem(keyOf(location), JSON.stringify({ at: 1, fields: { release: "1.20" } }));
  expect(field(open(), "release").value).toBe("1.37");
});

test("the twenty latest drafts are kept, and one that cannot be read goes first", () => {
  for (let at = 1; at <= 25; at++)
    localStorage.setItem(`kviz-draft:/${at}`, JSON.stringify({ at, fields: { a: "b" } }));
  localStorage.setItem("kviz-draft:/torn", "{");
  type(open(), "text", "mine");
  const kept = Object.keys(localStorage);
  expect(kept).toHaveLength(20);
  expect(kept).toContain(keyOf(location));
  expect(kept).not.toContain("kviz-draft:/torn");
  expect(kept).not.toContain("kviz-draft:/6");
});

test("a draft belongs to the page's address, without what opens it to others", () => {
  const of = (search: string) => keyOf({ pathname: "/runs/new", search });
  expect(of("")).toBe("kviz-draft:/runs/new?");
  expect(of("?snapshot=1&share=secret")).toBe(of("?snapshot=1"));
  expect(of("?snapshot=1")).not.toBe(of("?snapshot=2"));
});
