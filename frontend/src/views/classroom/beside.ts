// A class beside the Explorer: whoever looks around there follows the teacher's moment, or comes back to it; the
// teacher shows the class what is looked at. It speaks with the Explorer through the address alone.

import { addressOf, Link, Saying, type ClassState, type Frame } from "../../wire/classroom.ts";
import { button, el, w } from "./page.ts";

/** What of an address is no moment, but says who looks. */
const OURS = ["share", "class", "lead", "lesson", "step"];
const LOOK_MS = 300;
/** A revealed cycle may arrive in the Explorer after the class hears of it. */
const AGAIN_MS = 1_000;

export class Beside {
  private readonly root = el("aside", { class: "class__beside", "aria-label": w("beside") });
  private readonly title = el("p", { role: "status" });
  private readonly box = el("input", { type: "checkbox" });
  private state: ClassState | null = null;
  private moment = "";
  private shown = moment();

  constructor(
    private readonly code: string,
    csrf: string,
    private readonly leads: boolean,
  ) {
    const home = el("a", { href: `/class/${code}/${leads ? "lead" : ""}` }, w("toClass"));
    const box = el("label", {}, this.box, w(leads ? "showEach" : "follow"));
    this.root.append(this.title, box);
    if (leads) this.lead(new Saying(code, csrf));
    else this.root.append(button(w("comeBack"), () => this.open(), "button"));
    this.root.append(home);
    this.box.checked = !leads;
    this.box.onchange = () => !leads && this.box.checked && this.open();
    document.body.append(this.root);
    new Link(addressOf(code, leads ? "teacher" : "class"), {
      frame: (frame) => this.hear(frame),
      link: (state) => {
        if (state !== "up") this.title.textContent = w(state);
      },
    });
  }

  private hear(frame: Frame): void {
    if (frame.type !== "state") return;
    this.state = frame;
    const asks = frame.question?.is_open ? ` · ${w("newQuestion", { ask: frame.question.ask })}` : "";
    const held = frame.is_held ? ` · ${w("held")}` : "";
    this.title.textContent = frame.is_open ? `${this.code} · ${frame.step_title}${asks}${held}` : w("over");
    if (!this.leads && !frame.is_waiting && frame.query !== this.moment) {
      this.moment = frame.query;
      if (this.box.checked) this.open();
    }
  }

  /** Open the teacher's moment in the Explorer. */
  private open(): void {
    if (!this.state) return;
    const { query } = this.state;
    const go = (): void => {
      const now = new URLSearchParams(location.search);
      const wanted = new URLSearchParams(query);
      for (const name of OURS) if (now.has(name)) wanted.set(name, now.get(name)!);
      history.pushState(null, "", `?${wanted.toString().replaceAll("%2F", "/")}`);
      dispatchEvent(new PopStateEvent("popstate"));
    };
    go();
    setTimeout(() => {
      const isThere = new URLSearchParams(location.search).get("c") === new URLSearchParams(query).get("c");
      if (!isThere && this.box.checked && this.state?.query === query) go();
    }, AGAIN_MS);
  }

  /** Show the class what the teacher looks at: once, or every step. */
  private lead(saying: Saying): void {
    const show = (): void => {
      this.shown = moment();
      saying.control("show", { query: this.shown }).catch((error: Error) => {
        this.title.textContent = w("refused", { text: error.message });
      });
    };
    this.root.append(button(w("showThis"), show, "button button--primary"));
    setInterval(() => {
      if (this.box.checked && moment() !== this.shown) show();
    }, LOOK_MS);
  }
}

/** The moment that the address names. */
function moment(): string {
  const query = new URLSearchParams(location.search);
  for (const name of OURS) query.delete(name);
  return query.toString().replaceAll("%2F", "/");
}
