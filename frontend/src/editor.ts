// The entry of pages on which YAML is written: their text areas become editors. Without it they are text areas.

import type { Check, Checked } from "./views/editor/checking.ts";
import type { Schema } from "./views/editor/schema.ts";
import { withStep } from "./views/editor/steps.ts";

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
  const [{ edit }, known] = await Promise.all([import("./views/editor/editor.ts"), schemaOf(schema)]);
  const asked = check ? checkedBy(check, editor, area) : null;
  edit(area, { schema: known, check: asked, steps: document.getElementById(steps), nonce });
}

/** An editor without a schema offers nothing, and is one all the same. */
async function schemaOf(address: string): Promise<Schema | null> {
  if (!address) return null;
  const answer = await fetch(address).catch(() => null);
  return answer?.ok ? ((await answer.json()) as Schema) : null;
}

const checkedBy =
  (address: string, field: string, area: HTMLTextAreaElement): Check =>
  async (text) => {
    const token = area.form?.querySelector<HTMLInputElement>("[name=csrfmiddlewaretoken]")?.value ?? "";
    const answer = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token },
      body: JSON.stringify({ [field]: text }),
    });
    return (await answer.json()) as Checked;
  };
