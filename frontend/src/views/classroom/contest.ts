// Waiting pods that a class places by hand: how what they placed is spread, and what all are shown once the teacher
// shows what the scheduler did.

import type { Contest, ContestOfTeacher } from "../../wire/classroom.ts";
import { inDigits } from "./amounts.ts";
import { notesOf, rowsOf, sidesOf } from "./outcome.ts";
import { el, scrollable, w } from "./page.ts";

/** What is revealed: somebody's placement beside the scheduler's, if it is shown; who placed best. */
export function contestOf(contest: Contest, withSides: boolean): HTMLElement[] {
  const { outcome, shown } = contest;
  if (!outcome) return [];
  const called = shown ? shown.name || w("seat", { n: shown.number }) : "";
  const rows = shown ? ([[called, shown.side, ""], ...rowsOf(outcome)] as const) : rowsOf(outcome);
  const found: HTMLElement[] = [];
  if (withSides || shown) found.push(sidesOf(rows, contest.of));
  if (withSides) found.push(...notesOf(outcome).map((text) => el("p", { class: "fine" }, text)));
  const leaders = contest.leaders.map(({ number, name, placed, worth }) => {
    const result = w("contestReached", { n: placed, worth: inDigits(worth) });
    return el("li", {}, `${name || w("seat", { n: number })}${w("colon")}${result}`);
  });
  if (leaders.length) found.push(el("ol", { class: "class__leaders" }, ...leaders));
  return [el("div", {}, ...found), ...(shown ? [besideOf(contest, called)] : [])];
}

/** Pod by pod, where somebody and the scheduler put it; what differs has a sign. */
function besideOf({ shown, outcome }: Contest, called: string): HTMLElement {
  const [mine, theirs] = [shown?.side.placement ?? {}, outcome?.scheduler?.placement ?? {}];
  const pods = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].sort();
  const rows = pods.map((pod) => {
    const [here, there] = [mine[pod] ?? w("boardNowhere"), theirs[pod] ?? w("boardNowhere")];
    return el(
      "tr",
      {},
      el("th", { scope: "row", class: "mono" }, pod),
      el("td", { class: "mono" }, here),
      el("td", { class: "mono" }, here === there ? there : `≠ ${there}`),
    );
  });
  const head = [w("boardPod"), called, w("boardByScheduler")].map((text) => el("th", { scope: "col" }, text));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
  return scrollable(`${called}, ${w("boardByScheduler")}`, table);
}

/** How many reached what, the best first. */
export function spreadOf(spread: ContestOfTeacher["spread"]): HTMLElement[] {
  if (!spread.length) return [];
  const most = Math.max(...spread.map(({ n }) => n));
  const rows = spread.map(({ placed, worth, n }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, w("contestReached", { n: placed, worth: inDigits(worth) })),
      el("td", { class: "number" }, String(n)),
      el("td", {}, el("span", { class: "class__bar", style: `--share: ${(100 * n) / most}%` })),
    ),
  );
  return [el("table", { class: "class__counts" }, el("tbody", {}, ...rows))];
}
