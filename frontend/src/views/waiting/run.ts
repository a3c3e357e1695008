// A run that is not over: its progress and rate, and the page as it is in another state once it is in one.

import { documentAt, filled, type Leaving, pause } from "../../base/page.ts";

const PAUSE_MS = 700;
const RETRY_MS = 3000;
const LIVE = ["queued", "running", "paused"];

export interface Progress {
  readonly status: string;
  readonly cycles: number;
  readonly bound: number;
  readonly pending: number;
  readonly last_seq: number;
}

export async function followRun(box: HTMLElement, leaving: Leaving): Promise<void> {
  const { follow = "", boundBefore = "" } = box.dataset;
  let before: { readonly at: number; readonly cycles: number } | null = null;
  let alreadyBound = boundBefore === "" ? null : Number(boundBefore);
  for (;;) {
    const run = await documentAt<Progress>(follow);
    if (run && !leaving.now) {
      if (stateOf(run.status) !== box.dataset.state) {
        location.reload();
        return;
      }
      const now = { at: performance.now(), cycles: run.cycles };
      const perSecond = before ? ((now.cycles - before.cycles) * 1000) / (now.at - before.at) : 0;
      before = now;
      if (run.last_seq >= 0) alreadyBound ??= run.bound;
      show(box, run, Math.round(perSecond), alreadyBound ?? 0);
    }
    await pause(run ? PAUSE_MS : RETRY_MS);
  }
}

/** What the page was made for; another state has other buttons and another badge. */
export const stateOf = (status: string): string => (LIVE.includes(status) ? status : "over");

function show(box: HTMLElement, run: Progress, rate: number, alreadyBound: number): void {
  const heading = box.querySelector<HTMLElement>("[data-heading]");
  const isLoading = run.status === "running" && run.cycles === 0;
  const words = heading?.dataset[isLoading ? "loading" : run.status] ?? "";
  if (heading && heading.textContent !== words) heading.textContent = words;
  if (run.cycles === 0) return;
  const text = box.querySelector<HTMLElement>("[data-status]");
  if (text) text.textContent = filled(text.dataset.text ?? "", inWords({ ...run, rate }));
  const bar = box.querySelector<HTMLProgressElement>("[data-progress]");
  if (!bar) return;
  bar.max = Math.max(1, run.bound - alreadyBound + run.pending);
  bar.value = Math.max(0, run.bound - alreadyBound);
}

/** Numbers as the language of the page writes them. */
function inWords(values: object): Record<string, string> {
  const numbers = new Intl.NumberFormat(document.documentElement.lang || undefined);
  const said = ([name, value]: [string, unknown]): [string, string] => [
    name,
    typeof value === "number" ? numbers.format(value) : String(value),
  ];
  return Object.fromEntries(Object.entries(values).map(said));
}
