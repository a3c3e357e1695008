// What is said of the key under the pointer.

import { hoverTooltip, type Tooltip, type TooltipView } from "@codemirror/view";
import { mount, unmount } from "svelte";

import FieldAbout from "./Field.svelte";
import { positionAt } from "./position.ts";
import { type Field, fieldAt, type Schema } from "./schema.ts";

const WORD = /[\w./-]/;

export const describeOnHover = (schema: Schema) =>
  hoverTooltip((view, pos): Tooltip | null => {
    const line = view.state.doc.lineAt(pos);
    const [from, to] = wordAround(line.text, pos - line.from);
    if (from === to || !/^\s*:/.test(line.text.slice(to))) return null;
    const at = positionAt(view.state.doc.toJSON(), line.number - 1, from);
    const field = fieldAt(schema, at.steps, line.text.slice(from, to), at.here);
    return field && { pos: line.from + from, end: line.from + to, create: () => described(field) };
  });

function wordAround(text: string, at: number): [number, number] {
  let [from, to] = [at, at];
  while (from > 0 && WORD.test(text[from - 1] ?? "")) from--;
  while (to < text.length && WORD.test(text[to] ?? "")) to++;
  return [from, to];
}

function described(field: Field): TooltipView {
  const dom = document.createElement("div");
  const about = mount(FieldAbout, { target: dom, props: { field } });
  return { dom, destroy: () => void unmount(about) };
}
