// Asks the server what is wrong with the text, and marks it at its lines.

import { type Diagnostic, linter } from "@codemirror/lint";
import { StateEffect, type Text } from "@codemirror/state";

import type { Profile } from "./profile.ts";

const WAIT_MS = 600;

/** What the server finds wrong: `line` is counted from 1. */
export interface Found {
  readonly line?: number;
  readonly message: string;
}

export interface Checked {
  readonly problems: readonly Found[];
  readonly warnings?: readonly Found[];
  /** Those of a scenario, in order of time. */
  readonly steps?: readonly ScenarioStep[];
  /** What a configuration comes to; none while something is wrong. */
  readonly profiles?: readonly Profile[];
}

export interface ScenarioStep {
  readonly at_ns: number;
  readonly sentence: string;
  readonly note: string;
  readonly line: number | null;
}

export type Check = (text: string) => Promise<Checked>;

/** Has the text checked again, which may be right for another release. */
export const checkAgain = StateEffect.define<null>();

/** Marks what is wrong; `onChecked` hears each answer, null where there was none. */
export const checking = (check: Check, onChecked: (found: Checked | null) => void) =>
  linter(
    async ({ state }) => {
      const found = await check(state.doc.toString()).catch(() => null);
      onChecked(found);
      return [
        ...(found?.problems ?? []).map((each) => mark(state.doc, each, "error")),
        ...(found?.warnings ?? []).map((each) => mark(state.doc, each, "warning")),
      ];
    },
    {
      delay: WAIT_MS,
      needsRefresh: ({ transactions }) =>
        transactions.some(({ effects }) => effects.some((effect) => effect.is(checkAgain))),
    },
  );

/** A problem without a line stands at the first one. */
export function mark(doc: Text, { line = 1, message }: Found, severity: Diagnostic["severity"]): Diagnostic {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const indent = at.text.search(/\S|$/);
  return { from: at.from + indent, to: at.to, severity, message };
}
