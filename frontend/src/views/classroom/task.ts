// What a step of a class is to try: agreed on by the class, run by the teacher, and what came of it for all.

import type { Task, TeacherState } from "../../wire/classroom.ts";
import { el, marked, w } from "./page.ts";

/** The task, as all see it. */
export function taskOf(task: Task): HTMLElement[] {
  const may = el("p", { class: "fine" }, w("taskMay"), " ");
  for (const each of task.of) may.append(el("span", { class: "chip mono" }, each), " ");
  return [el("h2", {}, w("task")), marked(task.text), ...(task.of.length ? [may] : [])];
}

/** What came of the latest try; each goal with a sign and in words. */
export function triedOf({ tried }: Task): HTMLElement[] {
  if (!tried) return [];
  const what = el("p", {}, w("taskTried"), " ", el("code", {}, tried.changes.trim()));
  if (tried.error) return [what, el("p", { class: "notice notice--error" }, tried.error)];
  if (!tried.goals) return [what, el("p", {}, w("taskRunning"))];
  const verdict = tried.met ? `✓ ${w("taskWorks")}` : `✕ ${w("taskNotYet")}`;
  const goals = tried.goals.map(({ goal, met, instead }) => {
    const why = instead ? w("colon") + w("taskInstead", { instead }) : "";
    return el("li", {}, `${met ? "✓" : "✕"} ${goal}${why}`);
  });
  return [
    what,
    el("p", { class: "class__verdict" }, el("strong", {}, verdict)),
    el("ul", { class: "class__goals" }, ...goals),
  ];
}

/** What is said when a try has come to its end, for those who listen. */
export function triedInWords(task: Task | null): string {
  return task?.tried?.goals ? w(task.tried.met ? "taskWorks" : "taskNotYet") : "";
}

/** Where the teacher types what the class proposes. */
export function tryForm({ task, teacher }: TeacherState, run: (changes: string) => void): HTMLElement[] {
  const typed = el(
    "textarea",
    { class: "mono", rows: 2, spellcheck: "false", required: "" },
    task?.tried?.changes ?? "",
  );
  const label = el("label", {}, w("taskChanges"), typed);
  const send = el("button", { type: "submit", class: "button button--primary" }, w("taskRun"));
  const form = el("form", { class: "class__try" }, label, el("div", { class: "actions" }, send));
  form.onsubmit = (event) => {
    event.preventDefault();
    run(typed.value);
  };
  const hint = teacher.task?.hint;
  return hint ? [form, el("details", {}, el("summary", {}, w("taskHint")), el("p", {}, hint))] : [form];
}
