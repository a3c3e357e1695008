// A place on the timeline in words.

import "../../base/text/pair.ts";
import { t } from "../../base/text/text.ts";
import type { Pair } from "../../store/pair/pair.svelte.ts";
import type { PlaceInTime } from "../../store/pair/positions.ts";
import { RunSide, type Said, type SideName } from "../../store/pair/side.ts";
import { ABSENT } from "../../store/pair/standing.ts";
import { Result } from "../../wire/events.ts";

export const LETTERS: Readonly<Record<SideName, string>> = { a: "A", b: "B" };

export function statement(pair: Pair): string {
  const place = pair.places[pair.at]!;
  const { a, b } = pair.sides;
  if (!(a instanceof RunSide) || !(b instanceof RunSide)) return "";
  if (place.tried === "none") return t("pair.start");
  if (place.tried === "end") return t("pair.theEnd");
  if (place.tried !== "both") return alone(place.tried, place, pair.sides[place.tried] as RunSide);
  const said = { a: a.said(place.a), b: b.said(place.b) };
  const { pod, attempt: n } = said.a;
  const outcome = inBoth(outcomeOf(said.a), outcomeOf(said.b));
  const params = { a: place.a, b: place.b, pod, n, outcome };
  return place.a === place.b ? t("pair.both", params) : t("pair.bothApart", params);
}

function inBoth(a: string, b: string): string {
  return a === b ? t("pair.alike", { outcome: a }) : t("pair.unlike", { a, b });
}

function alone(side: SideName, place: PlaceInTime, run: RunSide): string {
  const said = run.said(place[side]);
  const other = side === "a" ? "b" : "a";
  const own = { a: place[side], side: LETTERS[side], pod: said.pod, n: said.attempt, outcome: outcomeOf(said) };
  return `${t("pair.alone", own)} ${whenOther(other, place)}`;
}

function whenOther(other: SideName, place: PlaceInTime): string {
  const params = { side: LETTERS[other], n: place.other };
  if (!place.other) return t("pair.otherNever", params);
  return place.other <= place[other] ? t("pair.otherEarlier", params) : t("pair.otherLater", params);
}

export function outcomeOf({ result, node }: Said): string {
  switch (result) {
    case Result.SCHEDULED:
      return t("pair.result.goes", { node });
    case Result.UNSCHEDULABLE:
      return t("pair.result.none");
    case Result.ERROR:
      return t("pair.result.error");
    case Result.BIND_ERROR:
      return t("pair.result.unbound", { node });
    case Result.SKIPPED:
      return t("pair.result.skipped");
    case Result.WAITING:
      return t("pair.result.waits", { node });
    default:
      return t("pair.result.unknown");
  }
}

/** Where a pod is on a side: its node, or that it has none. */
export const whereText = (pair: Pair, at: number): string =>
  pair.whereIs(at) ?? t(at === ABSENT ? "pair.absent" : "pair.pending");
