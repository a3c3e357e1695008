// The projector: large, nothing to press, how to get in always in sight.

import { addressOf, Link, type Frame, type ScreenState } from "../../wire/classroom.ts";
import { map, showLink, showMap, showStep } from "./common.ts";
import { el, place, w } from "./page.ts";
import { contestOf } from "./contest.ts";
import { leadersOf, outcomeOf } from "./question.ts";
import { taskOf, triedOf } from "./task.ts";

export function startScreen(code: string): void {
  const question = place("question");
  const count = place("count");
  const cover = place("black");
  const leaders = place("leaders");
  const board = place("contest");
  const task = place("task");
  const large = document.querySelector<HTMLElement>("[data-large]")!;
  let moment = "";
  large.onclick = () => showLarge(large.getAttribute("aria-pressed") !== "true");
  addEventListener("resize", fit);
  new Link(addressOf(code, "screen"), { frame: hear, link: showLink });

  /** How to get in, over all of the screen or below what is shown. */
  function showLarge(isLarge: boolean): void {
    large.setAttribute("aria-pressed", String(isLarge));
    document.body.classList.toggle("class--code", isLarge);
    fit();
  }

  /** Large while the class comes in, until the teacher begins. */
  function followCode({ number, question: asked, contest, n_in }: ScreenState): void {
    const now = JSON.stringify([number, asked?.vote, contest?.id]);
    if (!moment) showLarge(number <= 1 && !asked && !contest && n_in === 0);
    else if (now !== moment) showLarge(false);
    moment = now;
  }

  function hear(frame: Frame): void {
    if (frame.type === "pointer") map.point(frame.x, frame.y);
    else if (frame.type === "state") show(frame as ScreenState);
  }

  function show(now: ScreenState): void {
    document.body.classList.toggle("class--black", now.is_black);
    cover.show(now.is_open, () => [!now.is_open && el("p", { class: "class__banner" }, w("over"))]);
    showStep(now);
    showMap(now);
    followCode(now);
    const asked = now.question;
    document.body.classList.toggle("class--asked", asked !== null && asked.answer === null);
    document.body.classList.toggle("class--shown", asked?.answer != null);
    question.show([asked], () => {
      if (!asked) return [];
      const options = asked.kind === "node" ? [] : asked.options.map(({ text }) => el("li", {}, text));
      const open = asked.answer === null && options.length ? el("ul", { class: "class__options" }, ...options) : null;
      const closed = !asked.is_open && asked.answer === null ? el("p", {}, w("closed")) : null;
      return [el("h2", {}, asked.ask), open, closed, ...outcomeOf(asked, null)];
    });
    task.show(now.task, () => (now.task ? [...taskOf(now.task), ...triedOf(now.task)] : []));
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
    fit();
  }
}

/** Of the size in classroom.css: what short texts grow to, and the smallest that is still read from ten metres. */
const LARGEST = 1.3;
const SMALLEST = 0.7;
/** What gives way where all does not fit: nothing, the step's text, and beside a long answer the queue. */
const GIVES_WAY = ["", "tight", "bare"] as const;

/** Make what is shown as large as it fits above the foot: nobody scrolls a projector. */
function fit(): void {
  const foot = document.querySelector<HTMLElement>(".class__foot")!;
  if (document.body.classList.contains("class--code")) return;
  document.body.style.setProperty("--foot", `${foot.offsetHeight}px`);
  for (const giving of GIVES_WAY) {
    for (const each of GIVES_WAY) document.body.classList.toggle(`class--${each}`, each !== "" && each === giving);
    if (giving === "bare") document.body.classList.add("class--tight");
    for (let size = LARGEST; size >= SMALLEST - 0.001; size -= 0.05) {
      document.body.style.setProperty("--fit", size.toFixed(2));
      if (document.documentElement.scrollHeight <= innerHeight) return;
    }
  }
}
