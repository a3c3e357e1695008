// The search for an optimum: what it has found, what nobody can exceed, and then the answer.

import { documentAt, filled, type Leaving, pause } from "../../base/page.ts";

const PAUSE_MS = 500;
const RETRY_MS = 3000;
const WIDTH = 600;
const HEIGHT = 120;

export interface Step {
  readonly objective: string;
  readonly elapsed_s: number;
  /** The best value found, and the value that nobody can exceed; null if there is none yet. */
  readonly incumbent: number | null;
  readonly bound: number | null;
}

export interface Search {
  readonly status: string;
  readonly time_limit_s: number;
  readonly progress: readonly Step[];
}

export async function followSearch(box: HTMLElement, leaving: Leaving): Promise<void> {
  const { search: address = "", asked } = box.dataset;
  for (;;) {
    const search = await documentAt<Search>(address);
    if (search && !leaving.now) {
      if (search.status !== asked) {
        location.reload();
        return;
      }
      show(box, search);
    }
    await pause(search ? PAUSE_MS : RETRY_MS);
  }
}

function show(box: HTMLElement, { progress, time_limit_s }: Search): void {
  const last = progress.at(-1);
  const text = box.querySelector<HTMLElement>("[data-status]");
  if (!last || !text) return;
  text.textContent = inWords(text.dataset, last);
  const steps = progress.filter((step) => step.objective === last.objective && step.bound !== null);
  const chart = box.querySelector<HTMLElement>("[data-chart]");
  if (steps.length === 0 || !chart) return;
  chart.hidden = false;
  const objective = chart.querySelector("[data-objective]");
  if (objective) objective.textContent = last.objective;
  chart.querySelector("[data-found]")?.setAttribute("points", points(steps, "incumbent", time_limit_s));
  chart.querySelector("[data-most]")?.setAttribute("points", points(steps, "bound", time_limit_s));
}

function inWords({ text = "", nothing, unknown }: DOMStringMap, step: Step): string {
  const number = (value: number): string => value.toLocaleString(document.documentElement.lang);
  return filled(text, {
    objective: step.objective,
    elapsed_s: number(step.elapsed_s),
    incumbent: step.incumbent === null ? nothing : number(step.incumbent),
    bound: step.bound === null ? unknown : number(step.bound),
  });
}

/** The same line as `chart_of` in kviz/questions/optimum/page.py draws. */
export function points(steps: readonly Step[], name: "incumbent" | "bound", limitS: number): string {
  const values = steps.flatMap((step) => [step.incumbent, step.bound]).filter((value) => value !== null);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const begin = steps[0]?.elapsed_s ?? 0;
  const end = Math.max(limitS, steps.at(-1)?.elapsed_s ?? 0);
  const at = (step: Step, value: number): string => {
    const x = (WIDTH * (step.elapsed_s - begin)) / Math.max(end - begin, 0.01);
    const y = HEIGHT - ((HEIGHT - 8) * (value - low)) / Math.max(high - low, 1) - 4;
    return `${Math.round(x)},${Math.round(y)}`;
  };
  return steps.flatMap((step) => (step[name] === null ? [] : [at(step, step[name])])).join(" ");
}
