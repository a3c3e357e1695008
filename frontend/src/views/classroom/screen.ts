// The projector: large, nothing to press, how to get in always in sight.

import { addressOf, Link, type Frame, type ScreenState } from "../../wire/classroom.ts";
import { map, showLink, showMap, showStep } from "./common.ts";
import { el, place, w } from "./page.ts";
import { contestOf } from "./contest.ts";
import { leadersOf, outcomeOf } from "./question.ts";

export function startScreen(code: string): void {
  const question = place("question");
  const count = place("count");
  const veil = place("black");
  const leaders = place("leaders");
  const board = place("contest");
  new Link(addressOf(code, "screen"), { frame: hear, link: showLink });

  function hear(frame: Frame): void {
    if (frame.type === "pointer") map.point(frame.x, frame.y);
    else if (frame.type === "state") show(frame as ScreenState);
  }

  function show(now: ScreenState): void {
    document.body.classList.toggle("class--black", now.is_black);
    veil.show(now.is_open, () => [!now.is_open && el("p", { class: "class__banner" }, w("over"))]);
    showStep(now);
    showMap(now);
    const asked = now.question;
    question.show([asked], () => {
      if (!asked) return [];
      const options = asked.kind === "node" ? [] : asked.options.map(({ text }) => el("li", {}, text));
      const open = asked.answer === null && options.length ? el("ul", { class: "class__options" }, ...options) : null;
      const closed = !asked.is_open && asked.answer === null ? el("p", {}, w("closed")) : null;
      return [el("h2", {}, asked.ask), open, closed, ...outcomeOf(asked, null)];
    });
    count.show([now.n_in, now.n_answered, asked?.is_open], () => [
      el("p", {}, asked?.is_open ? w("answeredOf", { n: now.n_answered, all: now.n_in }) : w("in", { n: now.n_in })),
    ]);
    leaders.show(now.leaders, () => leadersOf(now));
    const { contest, contest_counts: counts } = now;
    document.body.classList.toggle("class--contest", !!contest?.outcome);
    board.show([contest, counts], () =>
      contest && counts
        ? [el("h1", {}, w("contestOn")), el("p", {}, w("contestCounts", { ...counts })), ...contestOf(contest, true)]
        : [],
    );
  }
}
