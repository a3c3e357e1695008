// A question of a class: what is asked, on the student's own device; and what came of it, for everybody.

import type { Asked, ClassState, Count, Given, Picture } from "../../wire/classroom.ts";
import { button, el, marked, w } from "./page.ts";

/** The names of nodes that may be tapped on the map to answer. */
export function nodesToTap(asked: Asked, picture: Picture | null): readonly string[] {
  const nodes = picture?.nodes.map((node) => node.name) ?? [];
  if (asked.kind === "node") return nodes;
  return asked.kind === "choice"
    ? nodes.filter((name) => asked.options.some(({ value, text }) => value === name && text === name))
    : [];
}

/** What tells the forms of votes apart: who is asked for a node gets another form when its picture is there. */
export function formOf(asked: Asked, picture: Picture | null): string {
  return asked.kind === "node" && !picture ? `${asked.vote} without nodes` : `${asked.vote}`;
}

/** The form of one vote. It lives until the vote ends: what was typed is not lost to news. */
export class AnswerForm {
  readonly root: HTMLFormElement;
  private readonly said = el("div", { class: "class__mine" });
  private order: string[];
  onChoose: (() => void) | null = null;

  constructor(
    private readonly asked: Asked,
    picture: Picture | null,
    private given: Given | null,
    send: (given: Given) => Promise<void>,
  ) {
    this.order = Array.isArray(given) ? [...(given as string[])] : asked.options.map(({ value }) => value);
    this.root = el("form", { class: "class__form", autocomplete: "off" }, ...this.fields(picture));
    this.root.append(el("button", { type: "submit", class: "button button--primary" }, w("answer")), this.said);
    this.root.onsubmit = (event) => {
      event.preventDefault();
      const value = this.value();
      if (value === "") return;
      send(value)
        .then(() => this.took(value))
        .catch((error: Error) => (this.said.textContent = error.message));
    };
    if (given !== null) this.took(given);
  }

  /** What is chosen now; empty while nothing is. */
  value(): Given {
    if (this.asked.kind === "order") return this.order;
    const typed = new FormData(this.root).get("answer");
    return typeof typed === "string" ? typed.trim() : "";
  }

  /** Choose a node that was tapped on the map. */
  tap(node: string): void {
    const field = [...this.root.elements].find(
      (each) => (each instanceof HTMLInputElement && each.value === node) || each instanceof HTMLSelectElement,
    );
    if (field instanceof HTMLInputElement) field.checked = true;
    else if (field instanceof HTMLSelectElement) field.value = node;
    this.onChoose?.();
  }

  private took(value: Given): void {
    this.given = value;
    const mine = el("strong", {}, w("yours", { answer: inWords(this.asked, value) }));
    this.said.replaceChildren(el("p", {}, mine), el("p", {}, w("answered")));
  }

  private fields(picture: Picture | null): (HTMLElement | string)[] {
    const { asked } = this;
    if (asked.kind === "number") {
      const value = this.given === null ? "" : String(this.given);
      const input = el("input", { name: "answer", inputmode: "numeric", size: 6, value, "aria-label": asked.ask });
      return [el("p", {}, input, ` ${asked.unit}`)];
    }
    if (asked.kind === "order") return [this.places()];
    const nodes = picture?.nodes.map((node) => ({ value: node.name, text: node.name })) ?? [];
    const options = asked.kind === "node" ? nodes : asked.options;
    const legend = nodesToTap(asked, picture).length ? w("chooseNode") : asked.ask;
    if (options.length > 30) {
      const select = el("select", { name: "answer", "aria-label": legend }, el("option", { value: "" }, "–"));
      select.append(...options.map(({ value, text }) => el("option", { value }, text)));
      select.onchange = () => this.onChoose?.();
      return [el("p", {}, select)];
    }
    const rows = options.map(({ value, text }) => {
      const input = el("input", { type: "radio", name: "answer", value });
      input.checked = this.given === value;
      input.onchange = () => this.onChoose?.();
      return el("label", { class: "class__option" }, input, el("span", {}, text));
    });
    return [el("fieldset", {}, el("legend", {}, legend), ...rows)];
  }

  /** All in a list, each with buttons that move it: no dragging is needed. */
  private places(): HTMLElement {
    const list = el("ol", { class: "class__order" });
    const texts = new Map(this.asked.options.map(({ value, text }) => [value, text]));
    const move = (i: number, by: number, focus: string): void => {
      const [value] = this.order.splice(i, 1);
      this.order.splice(i + by, 0, value!);
      draw();
      list.querySelector<HTMLElement>(`[data-move="${i + by}${focus}"]`)?.focus();
    };
    const draw = (): void => {
      const rows = this.order.map((value, i) => {
        const name = texts.get(value) ?? value;
        const mover = (key: "up" | "down", sign: string, by: number): HTMLElement => {
          const made = button(sign, () => move(i, by, key), "button class__move");
          made.setAttribute("aria-label", w(key, { name }));
          made.dataset.move = `${i}${key}`;
          made.disabled = i + by < 0 || i + by >= this.order.length;
          return made;
        };
        return el("li", {}, el("span", {}, name), mover("up", "↑", -1), mover("down", "↓", 1));
      });
      list.replaceChildren(...rows);
    };
    draw();
    return list;
  }
}

export function inWords(asked: Asked, given: Given): string {
  const text = (value: string): string => asked.options.find((option) => option.value === value)?.text ?? value;
  if (typeof given === "object") return given.map(text).join(" → ");
  return text(`${given}${asked.kind === "number" && asked.unit ? ` ${asked.unit}` : ""}`);
}

/** The sign stands behind what it is about: never a cross before the right answer. */
function sign(isRight: boolean): HTMLElement {
  return el("span", { class: isRight ? "class__right" : "class__wrong" }, isRight ? "✓" : "✗");
}

function same(a: Given, b: Given): boolean {
  return String(a) === String(b);
}

/** Votes, counted: a line per answer, for each vote a number and a bar that says the same. */
export function countsOf(votes: readonly (readonly Count[])[]): HTMLElement {
  const texts = [...new Set(votes.flatMap((counts) => counts.map(({ text }) => text)))];
  const all = votes.map((counts) => counts.reduce((sum, { n }) => sum + n, 0));
  if (!all.some(Boolean)) return el("p", {}, w("none"));
  const rows = texts.map((text) => {
    const found = votes.map((counts) => counts.find((count) => count.text === text));
    const isRight = found.some((count) => count?.right);
    const cells = found.flatMap((count, i) => {
      const n = count?.n ?? 0;
      const bar = el("span", { class: "class__bar", style: `--share: ${all[i] ? (100 * n) / all[i] : 0}%` });
      return [el("td", { class: "number" }, String(n)), el("td", {}, bar)];
    });
    const right = isRight && el("span", { class: "class__right" }, ` ✓ ${w("right")}`);
    return el("tr", {}, el("th", { scope: "row" }, text, right), ...cells);
  });
  const names = votes.map((_, i) => el("th", { scope: "col", colspan: 2 }, w("vote", { n: i + 1 })));
  const head = votes.length > 1 && el("thead", {}, el("tr", {}, el("td"), ...names));
  return el("table", { class: "class__counts" }, head, el("tbody", {}, ...rows));
}

/** What is revealed of a question. */
export function outcomeOf(asked: Asked, mine: Given | null): HTMLElement[] {
  const found: HTMLElement[] = [];
  const voted: HTMLElement[] = [];
  if (asked.answer !== null) {
    const isRight = mine !== null && same(mine, asked.answer);
    const lines = [el("strong", {}, w("rightIs", { answer: asked.answer_text }), " ", sign(true))];
    if (mine !== null) {
      const given = el("span", {}, w("yours", { answer: inWords(asked, mine) }), " ", sign(isRight), el("br"));
      lines.unshift(given);
    }
    found.push(el("p", { class: "class__verdict" }, ...lines));
    if (asked.because) found.push(marked(asked.because));
  }
  const votes = asked.votes.flatMap(({ counts }) => (counts ? [counts] : []));
  if (votes.length) voted.push(countsOf(votes));
  if (asked.gain?.n) {
    const { n, right_before: before, right_after: after, became_right: right, became_wrong: wrong } = asked.gain;
    voted.push(
      el("p", { class: "class__gain" }, w("gain", { n, before, after })),
      el("p", { class: "class__gain" }, w("became", { right, wrong })),
    );
  }
  return [el("div", {}, ...found), ...(voted.length ? [el("div", {}, ...voted)] : [])];
}

/** Who had most questions right, if the teacher shows that. */
export function leadersOf(state: ClassState): HTMLElement[] {
  if (!state.leaders.length) return [];
  const rows = state.leaders.map(({ name, number, score }) =>
    el("li", {}, `${name || w("seat", { n: number })}${w("colon")}${w("score", { n: score })}`),
  );
  return [el("h2", {}, w("leaders")), el("ol", { class: "class__leaders" }, ...rows)];
}
