// A question of a class: which of its answers are nodes of the picture, and answers in words.

import type { Asked, ClassState, Count, Given, Picture, Task } from "../../wire/classroom.ts";
import { w } from "./words.ts";

export type Option = Asked["options"][number];

/** So many nodes are cards that answer; of more, a list. */
export const MOST_CARDS = 24;

/** What may be chosen: the options, or the nodes of the picture. */
export function optionsOf(asked: Asked, picture: Picture | null): readonly Option[] {
  if (asked.kind !== "node") return asked.options;
  return picture?.nodes.map(({ name }) => ({ value: name, text: name })) ?? [];
}

/** The nodes whose cards in the picture answer the question. */
export function nodesToTap(asked: Asked, picture: Picture | null): readonly string[] {
  const values = new Set(asked.kind === "node" || asked.kind === "choice" ? optionsOf(asked, picture).map(named) : []);
  return picture?.nodes.map(({ name }) => name).filter((name) => values.has(name)) ?? [];
}

/** A node's name where that is the whole text of an option. */
function named({ value, text }: Option): string {
  return value === text ? value : "";
}

export function inWords(asked: Asked, given: Given): string {
  const text = (value: string): string => asked.options.find((option) => option.value === value)?.text ?? value;
  if (typeof given === "object") return given.map(text).join(" → ");
  return text(`${given}${asked.kind === "number" && asked.unit ? ` ${asked.unit}` : ""}`);
}

export function isSame(a: Given, b: Given): boolean {
  return String(a) === String(b);
}

/** How many gave an answer, and their share of all who answered, in per cent. */
export interface Voted {
  readonly n: number;
  readonly share: number;
}

/** How many gave each answer in each vote, the answers in order. */
export interface Counted {
  readonly text: string;
  readonly isRight: boolean;
  readonly votes: readonly Voted[];
}

export function counted(votes: readonly (readonly Count[])[]): readonly Counted[] {
  const texts = [...new Set(votes.flatMap((counts) => counts.map(({ text }) => text)))];
  const all = votes.map((counts) => counts.reduce((sum, { n }) => sum + n, 0));
  return texts.map((text) => {
    const found = votes.map((counts) => counts.find((count) => count.text === text));
    const isRight = found.some((count) => count?.right);
    return { text, isRight, votes: found.map((count, i) => ({ n: count?.n ?? 0, share: share(count?.n, all[i]) })) };
  });
}

function share(n = 0, all = 0): number {
  return all ? (100 * n) / all : 0;
}

/** The votes on a question whose counts are shown. */
export function countedVotes(asked: Asked): readonly (readonly Count[])[] {
  return asked.votes.flatMap(({ counts }) => (counts ? [counts] : []));
}

/** What the last vote brought, by node, once it is shown; null where an answer is no node of the picture. */
export function votesByNode(asked: Asked | null, picture: Picture | null): Readonly<Record<string, Voted>> | null {
  const nodes = asked ? nodesToTap(asked, picture) : [];
  const rows = asked ? counted(countedVotes(asked).slice(-1)) : [];
  if (!rows.length || !rows.every(({ text, votes }) => nodes.includes(text) || !votes[0]?.n)) return null;
  const found = new Map(rows.map(({ text, votes }) => [text, votes[0]!]));
  return Object.fromEntries(nodes.map((name) => [name, found.get(name) ?? { n: 0, share: 0 }]));
}

/** What is said when a try has come to its end, for those who listen. */
export function triedInWords(task: Task | null): string {
  return task?.tried?.goals ? w(task.tried.met ? "taskWorks" : "taskNotYet") : "";
}

/** What changed, for those who listen: the step, a question, its end, its answer. */
export function news(before: ClassState | null, now: ClassState): string {
  const [was, is] = [before?.question, now.question];
  if (!now.is_open) return w("over");
  if (now.is_black && !before?.is_black) return w("black");
  if (now.contest && now.contest.id !== before?.contest?.id) return w("contestOn");
  if (now.contest?.is_revealed && !before?.contest?.is_revealed) return w("contestRevealed");
  if (is?.is_open && is.vote !== was?.vote) return w("newQuestion", { ask: is.ask });
  if (is?.is_shown && !was?.is_shown && is.answer !== null) return w("shown", { answer: is.answer_text });
  if (is && was?.is_open && !is.is_open) return w("closed");
  const tried = triedInWords(now.task);
  if (tried && JSON.stringify(now.task) !== JSON.stringify(before?.task)) return tried;
  return before?.number === now.number ? "" : w("newStep", { n: now.number, title: now.step_title });
}

export function stepName({ number, n_steps }: ClassState): string {
  return n_steps ? w("step", { n: number, all: n_steps }) : w("stepOnly", { n: number });
}
