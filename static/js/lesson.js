// Shows what a lesson's step waits for when it is there: a revealed cycle, or an attempt's end. What was typed
// meanwhile stays, and a button that was pressed is not undone by it.

const PAUSE_MS = 400;
const FIELDS = "input:not([type=hidden]), textarea, select";

let leaves = false;
document.addEventListener("submit", () => (leaves = true));
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
const box = document.querySelector("[data-waits]");
if (box) setTimeout(look, PAUSE_MS);

async function look() {
  try {
    const answer = await fetch(box.dataset.waits, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (leaves) return;
    if (answer.ok && !page.querySelector("[data-waits]")) {
      show(page.querySelector("main"));
      return;
    }
  } catch {
    // the server may be restarting
  }
  setTimeout(look, PAUSE_MS);
}

function show(now) {
  const before = document.querySelector("main");
  const had = document.activeElement;
  for (const field of before.querySelectorAll(FIELDS)) {
    const same = fieldLike(now, field);
    if (!same) continue;
    if (field.type === "radio") same.checked = field.checked;
    else same.value = field.value;
  }
  const focus = before.contains(had) && had.matches(FIELDS) ? fieldLike(now, had) : null;
  before.replaceWith(now);
  focus?.focus({ preventScroll: true });
}

function fieldLike(main, field) {
  const all = [...main.querySelectorAll(FIELDS)];
  return all.find(
    ({ id, name, type, value }) =>
      id === field.id && name === field.name && (type !== "radio" || value === field.value),
  );
}
