// What is typed into a form outlives its tab: it is kept in this browser under the page's address, put back when the
// page is opened again, and dropped once the server has taken it. Files are never kept.

const PREFIX = "kviz-draft:";
const SENT = "kviz-draft-sent";
const WAIT_MS = 300;
const MAX_CHARACTERS = 1_000_000;
const MAX_DRAFTS = 20;
const KEPT = "textarea[name], select[name], input[name]:not([type=hidden], [type=file], [type=password])";

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
type Fields = Readonly<Record<string, string>>;

interface Draft {
  readonly at: number;
  readonly fields: Fields;
}

/** The draft that was sent last, and from which page. */
interface Sent {
  readonly key: string;
  readonly path: string;
}

/** Keep the drafts of the page's form, and drop the one that the server has taken. */
export function keepDrafts(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-drafts]");
  const sent = read<Sent>(() => sessionStorage.getItem(SENT));
  allowed(() => sessionStorage.removeItem(SENT));
  // An answer is the form again, with errors.
  if (form) keep(form, form.dataset.drafts === "answer" ? (sent?.key ?? null) : null);
  else if (sent && cameFrom(sent.path)) allowed(() => localStorage.removeItem(sent.key));
}

/** A browser may refuse to keep anything: then nothing is kept, and the form works as without this. */
function allowed(act: () => void): void {
  try {
    act();
  } catch {
    // Nothing is kept.
  }
}

function read<T>(item: () => string | null): T | null {
  try {
    return JSON.parse(item() ?? "null") as T | null;
  } catch {
    return null;
  }
}

const draftAt = (key: string): Draft | null => read<Draft>(() => localStorage.getItem(key));

const cameFrom = (path: string): boolean => document.referrer !== "" && new URL(document.referrer).pathname === path;

/** Keep the form's fields; `answered` is the key of the draft that the server sent back with errors. */
function keep(form: HTMLFormElement, answered: string | null): void {
  const key = answered ?? keyOf(location);
  const before = draftAt(key)?.fields ?? {};
  if (!answered) putBack(form, key, before);
  let waiting = 0;
  const save = (): void => {
    clearTimeout(waiting);
    waiting = 0;
    store(key, { ...(answered ? before : {}), ...typed(form) });
  };
  const later = (): void => {
    clearTimeout(waiting);
    waiting = window.setTimeout(save, WAIT_MS);
  };
  // While the event is on its way down: editors and presets announce what they wrote without bubbling.
  form.addEventListener("input", later, true);
  form.addEventListener("change", later, true);
  form.addEventListener("submit", () => {
    save();
    const sent: Sent = { key, path: location.pathname };
    allowed(() => sessionStorage.setItem(SENT, JSON.stringify(sent)));
  });
  addEventListener("pagehide", () => {
    if (waiting) save();
  });
}

/** The address without what opens it to others. */
export function keyOf({ pathname, search }: Pick<Location, "pathname" | "search">): string {
  const asked = new URLSearchParams(search);
  asked.delete("share");
  return `${PREFIX}${pathname}?${asked.toString()}`;
}

const fieldsOf = (form: HTMLFormElement): Field[] => [...form.querySelectorAll<Field>(KEPT)];

/** Fields of one name are told apart by what they name themselves. */
const nameOf = (field: Field): string => field.dataset.draft ?? field.name;

/** What a field held when the page came. */
function initial(field: Field): string {
  if (!(field instanceof HTMLSelectElement)) return field.defaultValue;
  return ([...field.options].find((each) => each.defaultSelected) ?? field.options[0])?.value ?? "";
}

function typed(form: HTMLFormElement): Fields {
  const changed = fieldsOf(form).filter((field) => field.value !== initial(field));
  return Object.fromEntries(changed.map((field) => [nameOf(field), field.value]));
}

function store(key: string, fields: Fields): void {
  allowed(() => localStorage.removeItem(key));
  const draft: Draft = { at: Date.now(), fields };
  const text = JSON.stringify(draft);
  if (Object.keys(fields).length === 0 || text.length > MAX_CHARACTERS) return;
  allowed(() => {
    localStorage.setItem(key, text);
    for (const old of oldest(MAX_DRAFTS)) localStorage.removeItem(old);
  });
}

/** All drafts but the `n` latest. */
function oldest(n: number): string[] {
  const keys = Object.keys(localStorage).filter((each) => each.startsWith(PREFIX));
  const age = new Map(keys.map((each) => [each, draftAt(each)?.at ?? 0]));
  return keys.sort((a, b) => (age.get(b) ?? 0) - (age.get(a) ?? 0)).slice(n);
}

function putBack(form: HTMLFormElement, key: string, fields: Fields): void {
  const kept = fieldsOf(form).filter((field) => holds(field, fields[nameOf(field)]));
  for (const field of kept) {
    field.value = fields[nameOf(field)] ?? "";
    unfold(field);
  }
  const notice = document.querySelector<HTMLElement>("[data-draft-notice]");
  if (!notice) return;
  notice.hidden = kept.length === 0;
  notice.querySelector("button")?.addEventListener("click", () => startOver(form, key, notice));
}

function holds(field: Field, text: string | undefined): boolean {
  if (text === undefined) return false;
  return !(field instanceof HTMLSelectElement) || [...field.options].some((each) => each.value === text);
}

function unfold(field: Field): void {
  let fold = field.closest("details");
  while (fold) {
    fold.open = true;
    fold = fold.parentElement?.closest("details") ?? null;
  }
}

function startOver(form: HTMLFormElement, key: string, notice: HTMLElement): void {
  form.reset();
  for (const area of form.querySelectorAll("textarea")) area.dispatchEvent(new Event("input"));
  allowed(() => localStorage.removeItem(key));
  notice.hidden = true;
  document.getElementById("main")?.focus();
}
