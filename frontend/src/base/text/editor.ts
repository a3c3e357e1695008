// The editor's texts in the language of the page: few, so that its page does without all others.

import { editorTexts as english } from "./en-editor.ts";
import { catalogue } from "./language.ts";

export const editorTexts: Record<keyof typeof english, string> = { ...english };

export async function learnEditor(): Promise<void> {
  const translated = await catalogue();
  for (const key of Object.keys(english) as (keyof typeof english)[])
    editorTexts[key] = translated[`editor.${key}`] ?? english[key];
}
