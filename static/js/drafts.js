// What is typed into a form outlives its tab: it is kept in this browser under the page's address, put
// back when the page is opened again, and dropped once the server has taken it. Files are never kept.

const PREFIX = "kviz-draft:";
const SENT = "kviz-draft-sent";
const WAIT_MS = 300;
const MAX_CHARACTERS = 1_000_000;
const MAX_DRAFTS = 20;

const form = document.querySelector("form[data-drafts]");
const sent = pocket(() => JSON.parse(sessionStorage.getItem(SENT)));
pocket(() => sessionStorage.removeItem(SENT));
if (form) keep(form, form.dataset.drafts === "answer" ? sent?.key : null);
else if (sent && cameFrom(sent.path)) pocket(() => localStorage.removeItem(sent.key));

/** A browser may refuse to keep anything: then nothing is kept, and the form works as without this. */
function pocket(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

function cameFrom(path) {
  return document.referrer !== "" && new URL(document.referrer).pathname === path;
}

/** Keep the form's fields; `answered` is the key of the draft that the server sent back with errors. */
function keep(form, answered) {
  const key = answered ?? keyHere();
  const before = pocket(() => JSON.parse(localStorage.getItem(key))?.fields) ?? {};
  if (!answered) putBack(form, key, before);
  let waiting = 0;
  const save = () => {
    clearTimeout(waiting);
    waiting = 0;
    store(key, { ...(answered ? before : {}), ...typed(form) });
  };
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(save, WAIT_MS);
  };
  // While the event is on its way down: editors and presets announce what they wrote without bubbling.
  form.addEventListener("input", later, true);
  form.addEventListener("change", later, true);
  form.addEventListener("submit", () => {
    save();
    pocket(() => sessionStorage.setItem(SENT, JSON.stringify({ key, path: location.pathname })));
  });
  addEventListener("pagehide", () => waiting && save());
}

/** The address without what opens it to others. */
function keyHere() {
  const asked = new URLSearchParams(location.search);
  asked.delete("share");
  return `${PREFIX}${location.pathname}?${asked}`;
}

function fieldsOf(form) {
  const kept = "textarea[name], select[name], input[name]:not([type=hidden], [type=file], [type=password])";
  return [...form.querySelectorAll(kept)];
}

/** Fields of one name are told apart by what they name themselves. */
function nameOf(field) {
  return field.dataset.draft ?? field.name;
}

/** What a field held when the page came. */
function initial(field) {
  if (!(field instanceof HTMLSelectElement)) return field.defaultValue;
  return ([...field.options].find((each) => each.defaultSelected) ?? field.options[0])?.value ?? "";
}

function typed(form) {
  const changed = fieldsOf(form).filter((field) => field.value !== initial(field));
  return Object.fromEntries(changed.map((field) => [nameOf(field), field.value]));
}

function store(key, fields) {
  pocket(() => localStorage.removeItem(key));
  const text = JSON.stringify({ at: Date.now(), fields });
  if (Object.keys(fields).length === 0 || text.length > MAX_CHARACTERS) return;
  pocket(() => {
    localStorage.setItem(key, text);
    for (const old of keysByAge().slice(MAX_DRAFTS)) localStorage.removeItem(old);
  });
}

function keysByAge() {
  const keys = Object.keys(localStorage).filter((each) => each.startsWith(PREFIX));
  const age = new Map(keys.map((each) => [each, JSON.parse(localStorage.getItem(each)).at]));
  return keys.sort((a, b) => age.get(b) - age.get(a));
}

function putBack(form, key, fields) {
  let isRestored = false;
  for (const field of fieldsOf(form)) {
    const text = fields[nameOf(field)];
    if (text === undefined || !holds(field, text)) continue;
    field.value = text;
    unfold(field);
    isRestored = true;
  }
  const notice = document.querySelector("[data-draft-notice]");
  notice.hidden = !isRestored;
  notice.querySelector("button").addEventListener("click", () => startOver(form, key, notice));
}

function unfold(field) {
  for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

function holds(field, text) {
  return !(field instanceof HTMLSelectElement) || [...field.options].some((each) => each.value === text);
}

function startOver(form, key, notice) {
  form.reset();
  for (const area of form.querySelectorAll("textarea")) area.dispatchEvent(new Event("input"));
  pocket(() => localStorage.removeItem(key));
  notice.hidden = true;
  document.getElementById("main").focus();
}
