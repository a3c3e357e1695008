// A board on which waiting pods are placed by hand, alone or in a class: pods, nodes on a map and in a list, the
// nodes that are feasible for the chosen pod, and why the others are not.

import type { BoardNode, BoardState, Did, Playing, Refusal, Refusals } from "../../wire/classroom.ts";
import { SmallMap, type NodeOnMap } from "./map.ts";
import { resultOf } from "./outcome.ts";
import { button, el, Place, w } from "./page.ts";

const AGAIN_MS = 1_000;

export class Board {
  readonly root = el("div", { class: "board" });
  private readonly head = this.part("div");
  private readonly result = this.part("section", "boardResult");
  private readonly pods = this.part("section", "boardPods");
  private readonly mapPlace = this.part("div");
  private readonly nodes = this.part("section", "boardNodes");
  private readonly map = new SmallMap();
  private state: BoardState | null = null;
  private pod = "";
  private refusals: Refusals | null = null;
  private problem = "";
  private mayLeave = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly playing: Playing,
    private readonly say: (text: string) => void,
    /** Whether whoever plays alone may begin again after being done. */
    private readonly isAlone: boolean,
  ) {
    this.map.root.onclick = (event) => {
      const node = this.map.nodeAt(this.map.at(event));
      if (node && this.pod) this.place(node);
    };
    this.refresh();
  }

  /** Ask for the board again: what is revealed, or where another page of the same player is. */
  refresh(): void {
    this.playing.board().then(
      (state) => this.take(state),
      (error: Error) => this.fail(error),
    );
  }

  private part(tag: "div" | "section", title = ""): Place {
    const made = el(tag, title ? { class: "board__part", "aria-label": w(title) } : {});
    this.root.append(made);
    return new Place(made);
  }

  private fail(error: Error): void {
    this.problem = error.message;
    this.say(error.message);
    this.show();
  }

  private take(state: BoardState): void {
    this.state = state;
    clearTimeout(this.timer);
    const { outcome } = state;
    if (outcome && (!outcome.scheduler || outcome.best.state === "waiting"))
      this.timer = setTimeout(() => this.refresh(), AGAIN_MS);
    this.show();
  }

  private get isOver(): boolean {
    return this.state !== null && (this.state.is_finished || this.state.is_revealed);
  }

  // ---------------------------------------------------------------- what is done

  private choose(pod: string): void {
    [this.pod, this.refusals, this.problem] = [pod, null, ""];
    this.playing.look(pod).then(
      (found) => {
        if (this.pod !== pod) return;
        this.refusals = found;
        const all = Object.values(found);
        this.say(w("boardChosen", { pod, n: all.filter((why) => !why).length, all: all.length }));
        this.show();
        this.map.root.scrollIntoView({ block: "nearest" });
      },
      (error: Error) => this.fail(error),
    );
    this.show();
    // The list was made again: whoever uses the keyboard stays where they were.
    this.root.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus({ preventScroll: true });
  }

  private place(node: string): void {
    const { pod } = this;
    const why = this.refusals?.[node];
    if (why === undefined) return;
    if (why) return this.fail(new Error(w("boardRefused", { node, pod, why: inWords(why) })));
    this.act("place", { pod, node }, (now) => {
      const total = now.pods.find((each) => each.name === pod)?.total ?? 0;
      return w("boardPlacedOn", { pod, node, total });
    });
  }

  private act(what: Did, more: { pod?: string; node?: string }, told: (now: BoardState) => string): void {
    [this.problem, this.mayLeave] = ["", false];
    this.playing.say(what, more).then(
      (now) => {
        // Another pod may have been chosen meanwhile; what is feasible for it has changed.
        const next = now.pods.find(({ name, node }) => name === this.pod && !node);
        [this.pod, this.refusals] = ["", null];
        this.take(now);
        this.say(told(now));
        if (next && !this.isOver) this.choose(next.name);
        else this.root.querySelector<HTMLElement>("[data-focus]")?.focus();
      },
      (error: Error) => this.fail(error),
    );
  }

  private undo(now: BoardState): void {
    const before = new Set(now.pods.filter(({ node }) => node).map(({ name }) => name));
    this.act("undo", {}, ({ pods }) => {
      const back = pods.find(({ name, node }) => before.has(name) && !node);
      return back ? w("boardUndone", { pod: back.name }) : "";
    });
  }

  private finish(now: BoardState): void {
    const left = now.pods.filter(({ node }) => !node).length;
    if (left && !this.mayLeave) {
      this.mayLeave = true;
      return this.fail(new Error(w("boardDonePart", { n: left })));
    }
    this.act("finish", {}, ({ verdict }) => verdict || w("boardIsDone"));
  }

  // ---------------------------------------------------------------- what is shown

  private show(): void {
    const now = this.state;
    if (!now) return;
    this.head.show([now, this.problem, this.mayLeave], () => this.headOf(now));
    this.pods.show([now.pods, this.pod, this.isOver], () => this.podsOf(now));
    this.mapPlace.show(this.isOver, () => [this.map.root]);
    this.map.show(onMap(now.nodes, this.refusals));
    this.nodes.show([now.nodes, this.pod, this.refusals, this.isOver], () => this.nodesOf(now));
    this.result.show([now.mine, now.outcome, now.verdict], () => resultOf(now));
  }

  private headOf(now: BoardState): (HTMLElement | false)[] {
    const n = now.pods.filter(({ node }) => node).length;
    const again = this.isAlone && now.is_finished;
    return [
      el("p", {}, w("boardAsk")),
      el("p", { class: "board__count" }, el("strong", {}, w("boardPlacedOf", { n, all: now.pods.length }))),
      this.problem !== "" && el("p", { class: "notice notice--warn" }, this.problem),
      !this.isOver &&
        el(
          "div",
          { class: "actions" },
          this.step("boardUndo", now.n_moves === 0, () => this.undo(now)),
          this.step("boardReset", now.n_moves === 0, () => this.act("reset", {}, () => w("boardReset"))),
          this.step("boardDone", false, () => this.finish(now), "button button--primary"),
        ),
      again &&
        el(
          "div",
          { class: "actions" },
          this.step("boardReset", false, () => this.act("reset", {}, () => "")),
        ),
    ];
  }

  private step(text: string, isOff: boolean, act: () => void, look = "button"): HTMLElement {
    const made = button(w(text), act, look);
    made.disabled = isOff;
    return made;
  }

  private podsOf(now: BoardState): HTMLElement[] {
    const levels = Object.keys(now.of).length;
    const rows = now.pods.map((pod) => {
      const words = [pod.asks, levels > 1 ? w("boardPriority", { n: pod.priority }) : ""].filter(Boolean).join(" · ");
      const there = pod.node ? w("boardPutThere", { node: pod.node, total: pod.total ?? w("boardNoScore") }) : "";
      const text = [el("strong", { class: "mono" }, pod.name), el("span", { class: "fine" }, words), there];
      const isFree = !pod.node && !this.isOver;
      if (!isFree) return el("li", { class: "board__pod board__pod--placed" }, ...text);
      const made = el("button", { type: "button", class: "board__pod", "aria-pressed": String(this.pod === pod.name) });
      made.append(...text.filter(Boolean));
      made.onclick = () => this.choose(pod.name);
      return el("li", {}, made);
    });
    rows.find((row) => row.firstElementChild?.tagName === "BUTTON")?.firstElementChild?.setAttribute("data-focus", "");
    return [el("h2", {}, w("boardPods")), el("ul", { class: "board__pods" }, ...rows)];
  }

  private nodesOf(now: BoardState): HTMLElement[] {
    const hint = !this.isOver && !this.pod && el("p", { class: "fine" }, w("boardChoose"));
    const rows = now.nodes.map((node) => this.nodeOf(node));
    return [el("h2", {}, w("boardNodes")), ...(hint ? [hint] : []), el("ul", { class: "board__nodes" }, ...rows)];
  }

  private nodeOf(node: BoardNode): HTMLElement {
    const why = this.pod ? this.refusals?.[node.name] : undefined;
    const more = [node.zone, node.room, ...node.taints].filter(Boolean).join(" · ");
    const made = el("li", { class: `board__node${why === null ? " board__node--fits" : ""}` });
    made.append(el("strong", { class: "mono" }, node.name), " ", el("span", { class: "fine" }, more));
    if (node.pods.length) made.append(el("p", { class: "fine mono" }, node.pods.join(", ")));
    if (why === null) {
      const put = button(`✓ ${w("boardFits", { pod: this.pod, node: node.name })}`, () => this.place(node.name));
      made.append(el("p", {}, put));
    } else if (why) made.append(el("p", { class: "board__why" }, `✕ ${inWords(why)}`));
    return made;
  }
}

/** The plugin, and what it says with values; without them its own message. */
function inWords({ plugin, message, sentence }: Refusal): string {
  return [plugin, sentence || message].filter(Boolean).join(w("colon"));
}

function onMap(nodes: readonly BoardNode[], refusals: Refusals | null): NodeOnMap[] {
  return nodes.map(({ name, zone, n_pods }) => {
    const why = refusals?.[name];
    const state = why === undefined ? "" : why ? "rejected" : "feasible";
    return { name, zone, n_pods, state, says: why ? why.plugin : "" };
  });
}
