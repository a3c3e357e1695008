// What came of pods that were placed by hand: a player beside the scheduler and the best there is, pod by pod.

import type { BoardPod, BoardState, Outcome, Side } from "../../wire/classroom.ts";
import { inDigits } from "./amounts.ts";
import { el, scrollable, w } from "./page.ts";

type Row = readonly [name: string, side: Side | null, note: string];

/** A player's result; beside the scheduler's once that is revealed. */
export function resultOf(now: BoardState): HTMLElement[] {
  const { mine, outcome } = now;
  if (!mine && !outcome) return [];
  const head = [el("h2", { tabindex: "-1", "data-focus": "" }, w("boardResult"))];
  if (now.verdict) head.push(el("p", { class: "board__verdict" }, now.verdict));
  else if (!outcome) head.push(el("p", {}, w("boardIsDone")));
  if (!mine) head.push(el("p", {}, w("boardOver")));
  const rows: Row[] = mine ? [[w("boardYou"), mine, ""]] : [];
  const sides = outcome ? [...rows, ...rowsOf(outcome)] : rows;
  const notes = [...(mine?.objections ?? []).map((why) => w("boardNotFinal", { why })), ...notesOf(outcome)];
  return [
    ...head,
    sidesOf(sides, now.of),
    ...notes.map((text) => el("p", { class: "fine" }, text)),
    el("p", { class: "fine" }, w("boardMeasure")),
    ...(outcome ? movesOf(now.pods, outcome) : []),
  ];
}

/** The scheduler and the best there is, as far as that is known. */
export function rowsOf({ scheduler, best }: Outcome): Row[] {
  const names = { proven: "boardBest", found: "boardBestFound", unknown: "boardBestNotKnown" } as const;
  const name = best.state === "waiting" ? "boardBestNotKnown" : names[best.state];
  const note = best.state === "waiting" ? w("boardSearching") : w("boardNotKnown");
  return [
    [w("boardByScheduler"), scheduler, w("boardWaiting")],
    [w(name), best.side, note],
  ];
}

export function notesOf(outcome: Outcome | null): string[] {
  if (!outcome) return [];
  const { scheduler, best } = outcome;
  const hindrances = [...new Set([...(scheduler?.objections ?? []), ...best.not_comparable])];
  const found = hindrances.map((why) => w("boardNotComparable", { why }));
  return best.why ? [...found, best.why] : found;
}

/** A line for each side: how many pods are placed, by priority if there are several, and the worth. */
export function sidesOf(rows: readonly Row[], of: Readonly<Record<string, number>>): HTMLElement {
  const levels = Object.keys(of).sort((a, b) => Number(b) - Number(a));
  const columns = levels.map((level) =>
    levels.length > 1 ? `${w("boardPlaced")}, ${w("boardPriority", { n: level })}` : w("boardPlaced"),
  );
  const head = [...columns, w("boardWorth")].map((text) => el("th", { scope: "col", class: "number" }, text));
  const body = rows.map(([name, side, note]) => {
    const cells = side
      ? [...levels.map((level) => w("boardOf", { n: side.placed[level] ?? 0, all: of[level] ?? 0 })), worthOf(side)]
      : null;
    const shown = cells
      ? cells.map((text) => el("td", { class: "number" }, text))
      : [el("td", { colspan: levels.length + 1 }, note)];
    return el("tr", {}, el("th", { scope: "row" }, name), ...shown);
  });
  const table = el(
    "table",
    {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, w("boardBy")), ...head)),
    el("tbody", {}, ...body),
  );
  return scrollable(w("boardResult"), table);
}

function worthOf({ worth }: Side): string {
  return worth === null ? w("boardNotKnown") : inDigits(worth);
}

function movesOf(pods: readonly BoardPod[], outcome: Outcome): HTMLElement[] {
  const { scheduler, best } = outcome;
  const at = (side: Side | null, pod: string): string =>
    side ? (side.placement[pod] ?? w("boardNowhere")) : w("boardNotKnown");
  const names = ["boardPod", "boardYou", "boardTotal", "boardHighest", "boardByScheduler", "boardBestShort"];
  const head = names.map((name) => w(name));
  const rows = pods.map((pod) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", class: "mono" }, pod.name),
      el("td", { class: "mono" }, pod.node || w("boardNowhere")),
      el("td", { class: "number" }, pod.total === null ? "" : String(pod.total)),
      el("td", { class: "number" }, pod.best === null ? "" : String(pod.best)),
      el("td", { class: "mono" }, at(scheduler, pod.name)),
      el("td", { class: "mono" }, at(best.side, pod.name)),
    ),
  );
  const table = el(
    "table",
    {},
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...rows),
  );
  return [el("h3", {}, w("boardMoves")), scrollable(w("boardMoves"), table)];
}
