// The student's page: it follows the teacher, takes answers, and shows what is revealed.

import {
  addressOf,
  Link,
  Playing,
  Saying,
  type Asked,
  type ClassState,
  type Frame,
  type Given,
  type Me,
} from "../../wire/classroom.ts";
import { map, say, showLink, showMap, showStep } from "./common.ts";
import { el, place, w } from "./page.ts";
import { Board } from "./board.ts";
import { contestOf } from "./contest.ts";
import { AnswerForm, formOf, inWords, leadersOf, nodesToTap, outcomeOf } from "./question.ts";
import { taskOf, triedInWords, triedOf } from "./task.ts";

export class Room {
  private readonly saying: Saying;
  private readonly link: Link;
  private readonly question = place("question");
  private readonly around = place("around");
  private readonly cover = place("black");
  private readonly leaders = place("leaders");
  private readonly boardPlace = place("board");
  private readonly contest = place("contest");
  private readonly task = place("task");
  private state: ClassState | null = null;
  private me: Me | null = null;
  private form: AnswerForm | null = null;
  private formOf = "";
  private board: Board | null = null;
  private boardOf = "";
  private wasRevealed = false;

  /** `seat` is 0 for who looks on. */
  constructor(
    private readonly code: string,
    private readonly csrf: string,
    private readonly seat: number,
  ) {
    this.saying = new Saying(code, csrf);
    this.link = new Link(addressOf(code, "class"), { frame: (frame) => this.hear(frame), link: showLink });
    map.ontap = (node) => this.tap(node);
    map.root.onpointermove = (event) => {
      if (this.points) this.link.point(map.at(event));
    };
  }

  private hear(frame: Frame): void {
    if (frame.type === "pointer") return map.point(frame.x, frame.y);
    if (frame.type === "me") this.me = frame;
    else {
      tell(this.state, frame);
      this.state = frame;
    }
    if (this.state) this.show(this.state);
  }

  private get points(): boolean {
    return this.seat > 0 && this.state?.is_open === true && this.state.pointer_seat === this.seat;
  }

  /** My answer to the question that is shown, if I gave one. */
  private mine({ question }: ClassState): Given | null {
    return this.me && this.me.vote === question?.vote ? this.me.given : null;
  }

  private tap(node: string): void {
    if (!this.state?.question || !this.form) return;
    if (nodesToTap(this.state.question, this.state.picture).includes(node)) this.form.tap(node);
  }

  private show(now: ClassState): void {
    this.cover.show([now.is_black, now.is_held, now.is_open], () => [
      !now.is_open && el("p", { class: "class__banner" }, w("over")),
      now.is_open && now.is_black && el("p", { class: "class__black" }, w("black")),
      now.is_open && !now.is_black && now.is_held && el("p", { class: "class__banner" }, w("held")),
    ]);
    showStep(now);
    this.showQuestion(now);
    this.task.show(now.task, () => {
      if (!now.task) return [];
      return [...taskOf(now.task), el("p", { class: "fine" }, w("taskSay")), ...triedOf(now.task)];
    });
    this.showChoice(now);
    this.around.show([now.explore, now.is_open, this.points], () => [
      this.points && el("p", { class: "class__banner" }, w("youPoint")),
      now.is_open && now.explore && el("a", { class: "button", href: now.explore }, w("lookAround")),
    ]);
    this.leaders.show(now.leaders, () => leadersOf(now));
    this.showContest(now);
  }

  /** The board in place of the step, while pods are placed by hand; it lives until that ends. */
  private showContest({ contest, is_open }: ClassState): void {
    document.body.classList.toggle("class--contest", contest !== null);
    if (contest?.id !== this.boardOf) {
      this.boardOf = contest?.id ?? "";
      const playing = new Playing(`/api/v1/classes/${this.code}/board/`, this.csrf);
      this.board = contest && this.seat > 0 ? new Board(playing, say, false) : null;
    } else if (contest && contest.is_revealed !== this.wasRevealed) this.board?.refresh();
    this.wasRevealed = contest?.is_revealed ?? false;
    this.boardPlace.show([this.boardOf, is_open], () => [is_open && this.board?.root]);
    this.contest.show([contest, this.seat], () => (contest ? contestOf(contest, this.seat === 0) : []));
  }

  /** The map, with the node that is chosen on it. */
  private showChoice(now: ClassState): void {
    const value = this.form?.value() ?? "";
    const canTap = this.form !== null && now.question !== null && nodesToTap(now.question, now.picture).length > 0;
    showMap(now, typeof value === "string" ? value : "", canTap);
  }

  private showQuestion(now: ClassState): void {
    const asked = now.question;
    const canAnswer = asked !== null && asked.is_open && this.seat > 0;
    const wanted = canAnswer ? formOf(asked, now.picture) : "";
    if (this.formOf !== wanted) {
      this.form = canAnswer ? this.formFor(asked, now) : null;
      this.formOf = wanted;
    }
    const mine = canAnswer ? null : this.mine(now);
    this.question.show([asked?.vote, wanted, asked?.is_open, asked?.answer, asked?.votes, canAnswer, mine], () => {
      if (!asked) return [];
      const again = asked.number > 1 && el("p", { class: "eyebrow" }, w("voteAgain"));
      const head = [again, el("h2", {}, asked.ask)];
      if (this.form) return [...head, this.form.root];
      if (asked.answer !== null) return [...head, ...outcomeOf(asked, mine)];
      const said = mine !== null && el("p", {}, w("yours", { answer: inWords(asked, mine) }));
      return [...head, el("p", {}, w("closed")), said];
    });
  }

  private formFor(asked: Asked, now: ClassState): AnswerForm {
    const form = new AnswerForm(asked, now.picture, this.mine(now), async (given) => {
      this.me = await this.saying.answer(asked.vote, given);
    });
    form.onChoose = () => this.state && this.showChoice(this.state);
    return form;
  }
}

/** What changed, for those who listen: the step, a question, its end, its answer. */
function tell(before: ClassState | null, now: ClassState): void {
  const [was, is] = [before?.question, now.question];
  if (!now.is_open) say(w("over"));
  else if (now.is_black && !before?.is_black) say(w("black"));
  else if (now.contest && now.contest.id !== before?.contest?.id) say(w("contestOn"));
  else if (now.contest?.is_revealed && !before?.contest?.is_revealed) say(w("contestRevealed"));
  else if (is && is.vote !== was?.vote && is.is_open) say(w("newQuestion", { ask: is.ask }));
  else if (is?.answer != null && was?.answer == null) say(w("shown", { answer: is.answer_text }));
  else if (is && was?.is_open && !is.is_open) say(w("closed"));
  else if (triedInWords(now.task) && JSON.stringify(now.task) !== JSON.stringify(before?.task))
    say(triedInWords(now.task));
  else if (before?.number !== now.number) say(w("newStep", { n: now.number, title: now.step_title }));
}
