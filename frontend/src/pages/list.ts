// A list with ticks: all at once, what may be done with so many, and choices that narrow it without a button.

const narrow = document.querySelector<HTMLFormElement>("[data-narrow]");
if (narrow) {
  for (const choice of narrow.querySelectorAll("select")) {
    choice.addEventListener("change", () => {
      narrow.requestSubmit();
    });
  }
  narrow.querySelector<HTMLElement>("button")?.classList.add("visually-hidden");
}

const form = document.querySelector<HTMLFormElement>("[data-chosen]");
if (form) follow(form);

function follow(form: HTMLFormElement): void {
  const fields = [...form.elements]; // those beside it, too, which name it
  const boxes = fields.filter((each) => each instanceof HTMLInputElement).filter((each) => each.type === "checkbox");
  const ticks = boxes.filter((each) => each.name);
  const all = boxes.find((each) => "all" in each.dataset);
  const buttons = fields.filter((each) => each instanceof HTMLButtonElement);
  const told = document.querySelector<HTMLElement>("[data-n-chosen]");
  const say = (): void => {
    const n = ticks.filter((tick) => tick.checked).length;
    for (const button of buttons) button.disabled = button.dataset.takes ? n !== Number(button.dataset.takes) : n === 0;
    if (told) told.textContent = n === 0 ? "" : (told.dataset.nChosen ?? "").replace("#", String(n));
    if (all) {
      all.checked = n === ticks.length;
      all.indeterminate = n > 0 && n < ticks.length;
    }
  };
  for (const tick of ticks) tick.addEventListener("change", say);
  if (all) {
    all.hidden = false;
    all.addEventListener("change", () => {
      for (const tick of ticks) tick.checked = all.checked;
      say();
    });
  }
  form.addEventListener("submit", (event) => {
    const asked = event.submitter?.dataset.confirm;
    if (asked && !window.confirm(asked)) event.preventDefault();
  });
  say();
}
