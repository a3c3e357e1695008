// The words of a class's pages, which the page carries.

type Params = Readonly<Record<string, string | number>>;

const carried = document.getElementById("page-words")?.textContent;
const words = JSON.parse(carried ?? "{}") as Readonly<Record<string, string>>;

/** A text of the page, with parameters. */
export function w(key: string, params: Params = {}): string {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));
}
