// The steps of a scenario: a list on a time axis beside the text, and new ones put into the text.

import { editorTexts } from "../../base/text/editor.ts";
import type { ScenarioStep } from "./checking.ts";

const MS_NS = 1_000_000;
const UNITS = [
  { name: "h", ms: 3_600_000 },
  { name: "m", ms: 60_000 },
  { name: "s", ms: 1_000 },
  { name: "ms", ms: 1 },
] as const;

/** Show the steps in a list; a click leads to the line of one. */
export function showSteps(list: HTMLElement, steps: readonly ScenarioStep[], goTo: (line: number) => void): void {
  const end = Math.max(...steps.map((step) => step.at_ns), 1);
  list.hidden = steps.length === 0;
  list.replaceChildren(...steps.map((step) => row(step, step.at_ns / end, goTo)));
}

function row(step: ScenarioStep, share: number, goTo: (line: number) => void): HTMLElement {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.style.setProperty("--at", share.toFixed(4));
  button.append(part("time", durationText(step.at_ns)), part("axis", ""), part("words", step.sentence));
  if (step.note) button.append(part("note", step.note));
  const { line } = step;
  if (line !== null) {
    button.title = editorTexts.line.replace("{n}", String(line));
    button.addEventListener("click", () => goTo(line));
  }
  item.append(button);
  return item;
}

function part(name: string, text: string): HTMLElement {
  const element = document.createElement("span");
  element.className = `timed-steps__${name}`;
  element.textContent = text;
  return element;
}

/** A time as Go writes durations, without parts that are zero. */
export function durationText(ns: number): string {
  let rest = Math.round(ns / MS_NS);
  let text = "";
  for (const { name, ms } of UNITS) {
    const n = Math.floor(rest / ms);
    rest -= n * ms;
    if (n) text += `${n}${name}`;
  }
  return text || "0s";
}

/** The text with a step after its last one; without steps they begin at the end. */
export function withStep(text: string, step: string): string {
  const lines = text.trimEnd().split("\n");
  const head = lines.findIndex((line) => /^steps:\s*(\[\s*\]\s*)?$/.test(line));
  if (head < 0) return `${text.trim() ? `${text.trimEnd()}\n` : ""}steps:\n${step.trimEnd()}\n`;
  lines[head] = "steps:";
  let after = head + 1;
  while (after < lines.length && !/^[^\s#-]/.test(lines[after] ?? "")) after++;
  const indent = /^\s*(?=-)/.exec(lines[head + 1] ?? "")?.[0] ?? "";
  const added = step
    .trimEnd()
    .split("\n")
    .map((line) => indent + line);
  return [...lines.slice(0, after), ...added, ...lines.slice(after)].join("\n") + "\n";
}
