// The teacher's desk: where the class is, what comes next, who is in, what they answer, and the buttons that lead.

import { addressOf, Link, Saying, type Frame, type Point, type TeacherState } from "../../wire/classroom.ts";
import { map, say, showLink, showMap, showStep } from "./common.ts";
import { button, el, marked, place, w } from "./page.ts";
import { contestOf, spreadOf } from "./contest.ts";
import { countsOf, outcomeOf } from "./question.ts";
import { taskOf, triedOf, tryForm } from "./task.ts";

type Tool = "point" | "circle" | "pen";
const TOOLS: readonly Tool[] = ["point", "circle", "pen"];
const MINUTE_MS = 60_000;
const CLOCK_MS = 5_000;
const MOST_POINTS = 400;

export class Desk {
  private readonly saying: Saying;
  private readonly link: Link;
  private readonly controls = place("controls");
  private readonly question = place("question");
  private readonly seats = place("seats");
  private readonly notes = place("notes");
  private readonly clock = place("clock");
  private readonly tools = place("tools");
  private readonly problem = place("problem");
  private readonly contest = place("contest");
  private readonly task = place("task");
  private readonly tried = place("tried");
  private state: TeacherState | null = null;
  private tool: Tool = "point";
  private line: Point[] = [];

  constructor(code: string, csrf: string) {
    this.saying = new Saying(code, csrf);
    this.link = new Link(addressOf(code, "teacher"), { frame: (frame) => this.hear(frame), link: showLink });
    setInterval(() => this.showClock(), CLOCK_MS);
    map.root.onpointerdown = (event) => this.drawFrom(event);
    map.root.onpointermove = (event) => this.drawOn(map.at(event));
    map.root.onpointerup = () => this.drawn();
    addEventListener("keydown", (event) => this.key(event));
  }

  private hear(frame: Frame): void {
    if (frame.type === "pointer") map.point(frame.x, frame.y);
    else if (frame.type === "state") this.show((this.state = frame as TeacherState));
  }

  private lead(what: string, more: object = {}): void {
    this.problem.show("", () => []);
    this.saying.control(what, more).catch((error: Error) => {
      const text = w("refused", { text: error.message });
      this.problem.show(text, () => [el("p", { class: "notice notice--error" }, text)]);
      say(text);
    });
  }

  private show(now: TeacherState): void {
    const { teacher } = now;
    showStep(now);
    showMap(now);
    this.showControls(now);
    this.contest.show([now.contest, teacher.contest, teacher.seats], () => this.contestOf(now));
    this.question.show([now.question, teacher.counts, teacher.n_answered, teacher.n_in], () => questionOf(now));
    this.seats.show([teacher.seats, now.pointer_seat, teacher.is_scored, now.question?.vote], () => this.seatsOf(now));
    this.notes.show([teacher.notes, teacher.next_title], () => [
      teacher.notes ? marked(teacher.notes) : el("p", { class: "muted" }, w("noNotes")),
      teacher.next_title && el("p", { class: "fine" }, w("next", { title: teacher.next_title })),
    ]);
    this.showTask(now);
    this.showClock();
    this.showTools(now);
  }

  /** The task stays as it is while it is tried: what was typed is not lost to news. */
  private showTask(now: TeacherState): void {
    const { task, teacher, number } = now;
    const run = (changes: string): void => this.lead("try", { changes });
    this.task.show([number, task?.text], () => (task ? [...taskOf(task), ...tryForm(now, run)] : []));
    this.tried.show([number, task?.tried, teacher.task?.run], () => {
      if (!task?.tried) return [];
      const look = el("a", { href: `/runs/${teacher.task?.run}/explore?c=1` }, w("taskLook"));
      return [...triedOf(task), el("p", {}, look)];
    });
  }

  private showTools(now: TeacherState): void {
    const choose = (each: Tool): HTMLElement => {
      const made = button(w(each), () => {
        this.tool = each;
        this.showTools(now);
      });
      made.setAttribute("aria-pressed", String(this.tool === each));
      return made;
    };
    const isMarked = now.marks.length > 0;
    this.tools.show([this.tool, isMarked, now.explore], () => [
      ...TOOLS.map(choose),
      isMarked && button(w("wipe"), () => this.lead("wipe")),
      now.explore && el("a", { class: "button", href: `${now.explore}&lead=1` }, w("inExplorer")),
    ]);
  }

  private showControls(now: TeacherState): void {
    const { teacher, question: asked } = now;
    const key = [
      now.number,
      now.n_steps,
      now.is_held,
      now.is_black,
      teacher.is_shown,
      teacher.is_scored,
      now.contest === null,
    ];
    this.controls.show([key, asked?.is_open, asked?.number, teacher.has_question, teacher.hides], () => {
      const isOpen = asked?.is_open ?? false;
      const before = button(`← ${w("before")}`, () => this.go(-1));
      before.disabled = now.contest !== null || now.number <= (now.n_steps ? 1 : 0);
      const isStep = !now.contest;
      const isNext = isStep && (teacher.is_shown || !teacher.hides);
      const after = button(`${w("nextStep")} →`, () => this.go(1), look(isNext));
      after.disabled = now.contest !== null || (now.n_steps > 0 && now.number >= now.n_steps);
      const mayAsk = isStep && teacher.has_question && !teacher.is_shown && !isOpen;
      const mayReveal = isStep && teacher.hides && !teacher.is_shown;
      return [
        before,
        mayAsk && button(w(asked ? "askAgain" : "ask"), () => this.lead("ask"), look(!asked)),
        isOpen && button(w("closeVote"), () => this.lead("close-vote"), look(true)),
        mayReveal && button(w("reveal"), () => this.lead("reveal"), look(!isOpen && (!!asked || !mayAsk))),
        after,
        this.toggle(now.is_held, "freeze", "unfreeze", "freeze"),
        this.toggle(now.is_black, "blackOut", "lighten", "black"),
        this.toggle(teacher.is_scored, "scoreOn", "scoreOff", "score"),
        !now.contest && button(w("contest"), () => this.lead("play")),
      ];
    });
  }

  /** What the class places by hand: how far they are, what is shown of it, and what ends it. */
  private contestOf({ contest, teacher }: TeacherState): HTMLElement[] {
    if (!contest || !teacher.contest) return [];
    const { n_begun, n_done, done, spread } = teacher.contest;
    const seats = contest.is_revealed ? teacher.seats.filter(({ number }) => done.includes(number)) : [];
    const shows = seats.map(({ number, name }) => {
      const isShown = contest.shown?.number === number;
      const called = name || w("seat", { n: number });
      const show = (): void => this.lead("play-show", { seat: isShown ? 0 : number });
      return button(isShown ? w("contestHide") : w("contestShow", { name: called }), show);
    });
    const reveal = button(w("contestReveal"), () => this.lead("play-reveal"), look(true));
    return [
      el("h2", {}, w("contest")),
      el("p", {}, w("contestCounts", { n_begun, n_done })),
      el(
        "div",
        { class: "actions" },
        contest.is_revealed ? null : reveal,
        button(w("contestStop"), () => this.lead("play-stop")),
      ),
      ...spreadOf(spread),
      ...contestOf(contest, true),
      el("div", { class: "actions" }, ...shows),
    ];
  }

  private toggle(isOn: boolean, on: string, off: string, what: string): HTMLElement {
    const made = button(w(isOn ? off : on), () => this.lead(what, { on: !isOn }));
    made.setAttribute("aria-pressed", String(isOn));
    return made;
  }

  private seatsOf({ teacher, question, pointer_seat }: TeacherState): HTMLElement[] {
    if (!teacher.seats.length) return [el("p", {}, w("nobody"))];
    const rows = teacher.seats.map(({ number, name, is_in, answered, score }) => {
      const called = name || w("seat", { n: number });
      const holds = pointer_seat === number;
      const give = (): void => this.lead("hand", { seat: holds ? 0 : number });
      const hand = is_in && button(w(holds ? "take" : "give", { name: called }), give, "link");
      const said = [is_in ? "" : w("gone"), question ? (answered ? `✓ ${w("hasAnswered")}` : w("notAnswered")) : ""];
      const points = teacher.is_scored && el("span", { class: "fine" }, ` ${w("score", { n: score })} `);
      return el("li", {}, el("strong", {}, called), ` ${said.filter(Boolean).join(" · ")} `, points, hand);
    });
    return [el("p", {}, w("in", { n: teacher.n_in })), el("ul", { class: "class__seats" }, ...rows)];
  }

  private showClock(): void {
    if (!this.state) return;
    const { opened_at, closes_at } = this.state.teacher;
    const minutes = Math.floor((Date.now() - Date.parse(opened_at)) / MINUTE_MS);
    const left = Math.max(0, Math.ceil((Date.parse(closes_at) - Date.now()) / MINUTE_MS));
    const now = new Date().toLocaleTimeString([], { timeStyle: "short", hourCycle: "h23" });
    this.clock.show([now, minutes, left], () => [
      el("strong", {}, now),
      ` · ${w("elapsed", { minutes })} · ${w("left", { minutes: left })}`,
    ]);
  }

  private drawFrom(event: PointerEvent): void {
    if (this.tool === "point") return;
    event.preventDefault();
    map.root.setPointerCapture(event.pointerId);
    this.line = [map.at(event)];
  }

  private drawOn(at: Point): void {
    if (this.tool !== "point") {
      if (this.line.length && this.line.length < MOST_POINTS) this.line.push(at);
    } else if (this.state?.pointer_seat === 0) this.link.point(at);
  }

  private drawn(): void {
    const { line } = this;
    this.line = [];
    if (line.length < 2) return;
    const points = this.tool === "circle" ? [line[0], line.at(-1)] : line;
    this.lead("draw", { kind: this.tool, points });
  }

  private go(by: 1 | -1): void {
    if (this.state && !this.state.contest) this.lead("go", { step: Math.max(0, this.state.number + by) });
  }

  /** What a clicker sends, and arrow keys: the next step, and the one before; `b` for black. */
  private key(event: KeyboardEvent): void {
    const target = event.target instanceof Element ? event.target : document.body;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, textarea, details")) return;
    if (["PageDown", "ArrowRight"].includes(event.key)) this.go(1);
    else if (["PageUp", "ArrowLeft"].includes(event.key)) this.go(-1);
    else if (event.key === "b") this.lead("black", { on: !this.state?.is_black });
    else return;
    event.preventDefault();
  }
}

const look = (isMain: boolean): string => (isMain ? "button button--primary" : "button");

function questionOf({ question, teacher }: TeacherState): HTMLElement[] {
  if (!question) return [];
  const head = el("h2", {}, question.ask);
  if (question.answer !== null) return [head, ...outcomeOf(question, null)];
  const count = el("p", {}, w("answeredOf", { n: teacher.n_answered, all: teacher.n_in }));
  const closed = question.is_open ? [] : [el("p", {}, w("closed"))];
  return [head, count, ...closed, countsOf([teacher.counts])];
}
