// What is offered while one writes.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Text } from "@codemirror/state";

import { editorTexts } from "../../base/text/editor.ts";
import { type Position, positionAt } from "./position.ts";
import { type Field, fieldAt, fieldsAt, isIn, type Schema } from "./schema.ts";

/** `release` is the one that the text is written for, "" if it is not known. */
export function complete(schema: Schema, context: CompletionContext, release: string): CompletionResult | null {
  const at = placeOf(context.state.doc, context.pos);
  if (!context.explicit && at.key === null && !at.prefix) return null;
  const from = context.pos - at.prefix.length;
  const options = at.key === null ? keys(schema, at, release) : values(schema, at, at.key);
  return options.length ? { from, options, validFor: /^[\w./-]*$/ } : null;
}

function placeOf(doc: Text, pos: number): Position {
  const line = doc.lineAt(pos);
  return positionAt(doc.toJSON(), line.number - 1, pos - line.from);
}

function keys(schema: Schema, at: Position, release: string): Completion[] {
  const indent = " ".repeat(at.column);
  return Object.entries(fieldsAt(schema, at.steps, at.here))
    .filter(([name, field]) => !name.includes("@") && !at.present.includes(name) && isIn(field, release))
    .map(([name, field]) => ({
      label: name,
      type: "property",
      detail: typeOf(field),
      apply: name + opening(field, indent),
      ...(field.doc ? { info: field.doc } : {}),
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

/** The type of a field, as the editor says it. */
export function typeOf({ type, of, list, map }: Field): string {
  const item = type === "object" ? (of?.replace(/^V1/, "") ?? "object") : type;
  if (list) return `${editorTexts.listOf} ${item}`;
  return map ? `${editorTexts.mapOf} ${item}` : item;
}
