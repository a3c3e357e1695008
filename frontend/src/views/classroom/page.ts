// What the pages of a class are made with: their words, which the page carries, and elements.

type Params = Readonly<Record<string, string | number>>;
type Child = Node | string | null | undefined | false;

const carried = document.getElementById("page-words")?.textContent;
const words = JSON.parse(carried ?? "{}") as Readonly<Record<string, string>>;

/** A text of the page, with parameters. */
export function w(key: string, params: Params = {}): string {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));
}

/** An element: attributes, and what is in it. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Params = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children.filter((child): child is Node | string => Boolean(child)));
  return made;
}

export function button(text: string, onclick: () => void, look = "button"): HTMLButtonElement {
  const made = el("button", { type: "button", class: look }, text);
  made.onclick = onclick;
  return made;
}

/** A table that scrolls sideways where it is too wide; the keyboard reaches it. */
export function scrollable(label: string, table: HTMLTableElement): HTMLElement {
  return el("div", { class: "table-wrap", role: "region", tabindex: "0", "aria-label": label }, table);
}

/** HTML that the server made from Markdown, in which raw HTML stayed text. */
export function marked(html: string): HTMLElement {
  const made = el("div", { class: "class__text" });
  made.innerHTML = html;
  return made;
}

/** A place of the page that is filled again only when what it shows has changed. */
export class Place {
  private key = "";

  constructor(private readonly root: HTMLElement) {}

  show(what: unknown, make: () => readonly Child[]): void {
    const key = JSON.stringify(what) ?? "";
    if (key === this.key) return;
    this.key = key;
    const made = make().filter((child): child is Node | string => Boolean(child));
    this.root.replaceChildren(...made);
    this.root.hidden = made.length === 0;
  }
}

export function place(name: string): Place {
  return new Place(document.querySelector<HTMLElement>(`[data-place="${name}"]`)!);
}
