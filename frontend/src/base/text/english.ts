// All texts, for who translates them; no page loads this module.

import { editorTexts } from "./en-editor.ts";
import { late } from "./en-late.ts";
import { lesson } from "./en-lesson.ts";
import { pair } from "./en-pair.ts";
import { en } from "./en.ts";
import type { Entry } from "./text.ts";

const editor = Object.fromEntries(Object.entries(editorTexts).map(([key, text]) => [`editor.${key}`, text]));

export const english: Readonly<Record<string, Entry>> = { ...en, ...late, ...pair, ...lesson, ...editor };
