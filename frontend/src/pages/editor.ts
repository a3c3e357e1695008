// The entry of pages on which YAML is written: their text areas become editors. Without it they are text areas.

import { mount } from "svelte";

import { documentAt } from "../base/page.ts";
import { learnEditor } from "../base/text/editor.ts";
import type { Check, Checked } from "../views/editor/checking.ts";
import type { Schema } from "../views/editor/schema.ts";
import { type Target, targetOf } from "../views/editor/target.ts";
import { withStep } from "../views/editor/steps.ts";

/** What the server takes to check while one writes; a longer text is checked when it is sent. */
const MAX_CHECKED = 1_000_000;

for (const area of document.querySelectorAll<HTMLTextAreaElement>("textarea[data-editor]")) {
  void enhance(area);
}

for (const choice of document.querySelectorAll<HTMLSelectElement>("select[data-add-step]")) {
  choice.addEventListener("change", () => addStep(choice));
}

/** Put the chosen kind of step into the text, and be ready for the next one. */
function addStep(choice: HTMLSelectElement): void {
  const area = document.getElementById(choice.dataset.addStep ?? "");
  const text = choice.selectedOptions[0]?.dataset.text ?? "";
  choice.selectedIndex = 0;
  if (!(area instanceof HTMLTextAreaElement) || !text) return;
  area.value = withStep(area.value, text);
  area.dispatchEvent(new Event("input"));
}

async function enhance(area: HTMLTextAreaElement): Promise<void> {
  const { schema = "", check = "", editor = "", nonce = "", steps = "" } = area.dataset;
  const composed = compositionOf(area);
  const [{ default: Editor }, known] = await Promise.all([
    import("../views/editor/Editor.svelte"),
    schemaOf(schema),
    learnEditor(),
  ]);
  // Who writes meanwhile goes on in the editor, but not in the middle of a character.
  await composed();
  const target = targetOf(area.form);
  const props = {
    area,
    schema: known,
    check: check ? checkedBy(check, editor, area, target) : null,
    target,
    nonce,
    steps,
    hasForm: "form" in area.dataset,
  };
  const parent = area.parentElement ?? document.body;
  mount(Editor, { target: parent, ...(area.nextSibling ? { anchor: area.nextSibling } : {}), props });
}

/** Notices from now on when an input method composes text in the area; returns how to wait until it does not. */
function compositionOf(area: HTMLTextAreaElement): () => Promise<unknown> {
  let isComposing = false;
  area.addEventListener("compositionstart", () => (isComposing = true));
  area.addEventListener("compositionend", () => (isComposing = false));
  const end = (): Promise<unknown> =>
    new Promise((resolve) => area.addEventListener("compositionend", resolve, { once: true }));
  return async () => (isComposing ? end() : undefined);
}

/** An editor without a schema offers nothing, and is one all the same. */
async function schemaOf(address: string): Promise<Schema | null> {
  return address ? documentAt<Schema>(address) : null;
}

const checkedBy =
  (address: string, field: string, area: HTMLTextAreaElement, target: Target): Check =>
  async (text) => {
    if (text.length > MAX_CHECKED) return { problems: [] };
    const token = area.form?.querySelector<HTMLInputElement>("[name=csrfmiddlewaretoken]")?.value ?? "";
    const answer = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token },
      body: JSON.stringify({ [field]: text, ...target.asked() }),
    });
    return (await answer.json()) as Checked;
  };
