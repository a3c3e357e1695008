// What is offered while one writes, and what is said of the word under the pointer.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Text } from "@codemirror/state";
import { hoverTooltip, type Tooltip } from "@codemirror/view";

import { editorTexts } from "../../base/text/editor.ts";
import { type Position, positionAt } from "./position.ts";
import { type Field, fieldAt, fieldsAt, type Schema } from "./schema.ts";

const WORD = /[\w./-]/;

export function complete(schema: Schema, context: CompletionContext): CompletionResult | null {
  const at = placeOf(context.state.doc, context.pos);
  if (!context.explicit && at.key === null && !at.prefix) return null;
  const from = context.pos - at.prefix.length;
  const options = at.key === null ? keys(schema, at) : values(schema, at, at.key);
  return options.length ? { from, options, validFor: /^[\w./-]*$/ } : null;
}

function placeOf(doc: Text, pos: number): Position {
  const line = doc.lineAt(pos);
  return positionAt(doc.toJSON(), line.number - 1, pos - line.from);
}

function keys(schema: Schema, at: Position): Completion[] {
  const indent = " ".repeat(at.column);
  return Object.entries(fieldsAt(schema, at.steps, at.here))
    .filter(([name]) => !name.includes("@") && !at.present.includes(name))
    .map(([name, field]) => ({
      label: name,
      type: "property",
      detail: typeOf(field),
      apply: name + opening(field, indent),
      ...(field.doc ? { info: () => paragraph(field.doc ?? "") } : {}),
    }));
}

/** What follows a key: a value, or a line of its own for what is inside. */
function opening(field: Field, indent: string): string {
  if (field.list) return `:\n${indent}- `;
  if (field.map || field.type === "object") return `:\n${indent}  `;
  return ": ";
}

function values(schema: Schema, at: Position, key: string): Completion[] {
  const field = fieldAt(schema, at.steps, key, at.here);
  if (!field) return [];
  const known = field.type === "boolean" ? ["true", "false"] : (field.values ?? (field.default ? [field.default] : []));
  return known.map((label) => ({
    label,
    type: "enum",
    ...(label === field.default ? { detail: editorTexts.default } : {}),
  }));
}

export const describeOnHover = (schema: Schema) =>
  hoverTooltip((view, pos): Tooltip | null => {
    const line = view.state.doc.lineAt(pos);
    const [from, to] = wordAround(line.text, pos - line.from);
    if (from === to || !/^\s*:/.test(line.text.slice(to))) return null;
    const at = positionAt(view.state.doc.toJSON(), line.number - 1, from);
    const field = fieldAt(schema, at.steps, line.text.slice(from, to), at.here);
    return field && { pos: line.from + from, end: line.from + to, create: () => ({ dom: told(field) }) };
  });

function wordAround(text: string, at: number): [number, number] {
  let [from, to] = [at, at];
  while (from > 0 && WORD.test(text[from - 1] ?? "")) from--;
  while (to < text.length && WORD.test(text[to] ?? "")) to++;
  return [from, to];
}

function told(field: Field): HTMLElement {
  const box = document.createElement("div");
  box.className = "yaml-editor__about";
  const type = field.default ? `${typeOf(field)}, ${editorTexts.default} ${field.default}` : typeOf(field);
  box.append(paragraph(type), ...(field.doc ? [paragraph(field.doc)] : []));
  if (field.values) box.append(paragraph(field.values.join(" | ")));
  return box;
}

function paragraph(text: string): HTMLElement {
  const element = document.createElement("p");
  element.textContent = text;
  return element;
}

function typeOf({ type, of, list, map }: Field): string {
  const item = type === "object" ? (of?.replace(/^V1/, "") ?? "object") : type;
  if (list) return `${editorTexts.listOf} ${item}`;
  return map ? `${editorTexts.mapOf} ${item}` : item;
}
