// What a lesson's step waits for: a revealed cycle, or an attempt's end. What was typed meanwhile stays, and a button
// that was pressed is not undone by it.

import { type Leaving, pageAt, pause } from "../../base/page.ts";

const PAUSE_MS = 400;
const FIELDS = "input:not([type=hidden]), textarea, select";

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export async function awaitStep(address: string, leaving: Leaving): Promise<void> {
  for (;;) {
    await pause(PAUSE_MS);
    const page = await pageAt(address);
    if (leaving.now || !page || page.querySelector("[data-waits]")) continue;
    const main = page.querySelector("main");
    if (main) show(main);
    return;
  }
}

function show(now: HTMLElement): void {
  const before = document.querySelector("main");
  if (!before) return;
  const had = document.activeElement;
  const kept: Field[] = [];
  for (const field of before.querySelectorAll<Field>(FIELDS)) {
    const same = fieldLike(now, field);
    if (!same) continue;
    if (isTicked(same) && isTicked(field)) same.checked = field.checked;
    else same.value = field.value;
    kept.push(same);
  }
  const opened = [...before.querySelectorAll("details[open]")].map(titleOf);
  for (const details of now.querySelectorAll("details")) if (opened.includes(titleOf(details))) details.open = true;
  const focused = before.contains(had) && had?.matches(FIELDS) ? fieldLike(now, had as Field) : null;
  before.replaceWith(now);
  for (const field of kept) field.dispatchEvent(new Event("input", { bubbles: true }));
  focused?.focus({ preventScroll: true });
}

function titleOf(details: Element): string {
  return details.querySelector("summary")?.textContent ?? "";
}

function isTicked(field: Field): field is HTMLInputElement {
  return field.type === "radio" || field.type === "checkbox";
}

/** The field of the new page that is the same as one of the old. */
export function fieldLike(main: Element, field: Field): Field | null {
  const isSame = (other: Field): boolean =>
    other.id === field.id &&
    other.name === field.name &&
    other.type === field.type &&
    (!isTicked(other) || other.value === field.value);
  return [...main.querySelectorAll<Field>(FIELDS)].find(isSame) ?? null;
}
