// How the editor looks: the tokens of the pages, in light and in dark.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--k-feasible-ink)" },
  { tag: tags.string, color: "var(--k-victim-ink)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--k-chosen-ink)" },
  { tag: tags.comment, color: "var(--k-ink-3)", fontStyle: "italic" },
  { tag: [tags.meta, tags.separator, tags.squareBracket, tags.brace], color: "var(--k-ink-3)" },
]);

const box = {
  border: "1px solid var(--k-line-strong)",
  borderRadius: "var(--k-radius-m)",
  backgroundColor: "var(--k-surface)",
  color: "var(--k-ink)",
};

const styles = EditorView.theme({
  "&": { ...box, maxHeight: "36rem", fontSize: "var(--k-text-s)", overflow: "hidden" },
  "&.cm-focused": { outline: "2px solid var(--k-focus)", outlineOffset: "1px" },
  ".cm-scroller": { minHeight: "calc(var(--rows) * 1.5em)", fontFamily: "var(--k-mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--k-ink)" },
  ".cm-cursor": { borderLeftColor: "var(--k-ink)" },
  ".cm-gutters": {
    borderRight: "1px solid var(--k-line)",
    backgroundColor: "var(--k-sunken)",
    color: "var(--k-ink-3)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--k-feasible-wash)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--k-feasible) 30%, transparent)",
  },
  ".cm-tooltip": { ...box, maxWidth: "34rem", boxShadow: "var(--k-shadow)" },
  ".cm-tooltip p": { margin: "0", padding: "var(--k-space-1) var(--k-space-2)" },
  ".cm-tooltip .cm-completionInfo, .yaml-editor__about": { fontFamily: "var(--k-font)" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "0.15rem 0.5rem" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--k-action)",
    color: "var(--k-on-action)",
  },
  ".cm-completionDetail": { color: "inherit", opacity: "0.75" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--k-rejected)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--k-chosen)" },
});

export const theme: Extension = [styles, syntaxHighlighting(colours)];
