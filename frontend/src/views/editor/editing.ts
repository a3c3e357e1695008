// CodeMirror in place of a text area: what it shows is the area's text, selection and focus.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { forceLinting, lintGutter, lintKeymap } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";

import { type Check, checkAgain, type Checked, checking } from "./checking.ts";
import { complete } from "./completion.ts";
import { describeOnHover } from "./hover.ts";
import type { Schema } from "./schema.ts";
import type { Target } from "./target.ts";
import { theme } from "./theme.ts";

export interface EditorOptions {
  /** The element that the editor is put into. */
  readonly parent: HTMLElement;
  readonly schema: Schema | null;
  readonly check: Check | null;
  readonly target: Target;
  readonly nonce: string;
  /** Hears what the server makes of the text, each time it has changed. */
  readonly onChecked: (found: Checked | null) => void;
}

/** Show a line, and be ready to write there. */
export function goTo(view: EditorView, line: number): void {
  const at = view.state.doc.line(Math.min(line, view.state.doc.lines));
  view.dispatch({ selection: { anchor: at.from }, effects: EditorView.scrollIntoView(at.from, { y: "center" }) });
  view.focus();
}

/** Put another text in the place of what is written, to be checked at once; undo takes it back. */
export function write(view: EditorView, text: string): void {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  forceLinting(view);
}

/** Put an editor in place of the text area, with its text, selection and focus, and return it. */
export function edit(area: HTMLTextAreaElement, options: EditorOptions): EditorView {
  const { parent, schema, check, target, nonce, onChecked } = options;
  const label = document.querySelector<HTMLLabelElement>(`label[for="${area.id}"]`);
  if (label) label.id ||= `${area.id}-label`;
  const { selectionStart: from, selectionEnd: to, selectionDirection } = area;
  const isFocused = document.activeElement === area;
  const view = new EditorView({
    parent,
    doc: area.value,
    selection: selectionDirection === "backward" ? { anchor: to, head: from } : { anchor: from, head: to },
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      bracketMatching(),
      closeBrackets(),
      indentUnit.of("  "),
      EditorState.tabSize.of(2),
      EditorView.lineWrapping,
      EditorView.cspNonce.of(nonce),
      yaml(),
      theme,
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
      schema
        ? [
            autocompletion({ override: [(context) => complete(schema, context, target.release())] }),
            describeOnHover(schema),
          ]
        : [],
      check ? [checking(check, onChecked), lintGutter()] : [],
      EditorView.contentAttributes.of({
        "aria-labelledby": label?.id ?? "",
        "aria-describedby": area.getAttribute("aria-describedby") ?? "",
        spellcheck: "false",
        autocapitalize: "off",
      }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged || area.value === update.state.doc.toString()) return;
        area.value = update.state.doc.toString();
        area.dispatchEvent(new Event("input", { bubbles: true }));
      }),
    ],
  });
  target.onChange(() => view.dispatch({ effects: checkAgain.of(null) }));
  area.hidden = true;
  if (isFocused) view.focus();
  // The label is now that of the editor.
  label?.removeAttribute("for");
  label?.addEventListener("click", () => view.focus());
  // Presets and samples are written into the text area.
  area.addEventListener("input", () => {
    if (area.value === view.state.doc.toString()) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: area.value } });
    view.focus();
  });
  return view;
}
