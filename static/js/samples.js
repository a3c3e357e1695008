// The run form works without this. With it: presets and sample scenarios appear in their editor,
// nothing else that was typed is lost, the seed shows only where it counts, and what is folded away
// says what it holds.

const select = document.querySelector("[data-sample]");
if (select) showSamples(select, document.getElementById(select.dataset.sample));

const seed = document.querySelector("[data-seed]");
if (seed) showSeedWhereItCounts(seed);

for (const line of document.querySelectorAll("[data-holds]")) sayWhatItHolds(line);

for (const chip of document.querySelectorAll("[data-fill]")) {
  chip.addEventListener("click", (event) => {
    event.preventDefault();
    fill(document.getElementById(chip.dataset.fill), chip);
  });
}

function showSeedWhereItCounts(field) {
  const rule = document.getElementById("tie_break");
  const configuration = document.getElementById("scheduler_config");
  const show = () => {
    field.hidden = rule.value !== "draw" && !configuration.value.includes("prioritizeVerb");
  };
  rule.addEventListener("change", show);
  configuration.addEventListener("input", show);
  show();
}

function sayWhatItHolds(line) {
  const fold = line.closest("details");
  const area = document.getElementById(line.dataset.holds);
  const atFirst = line.textContent;
  const say = () => {
    if (!area) line.textContent = settingsIn(fold, line.dataset);
    else line.textContent = area.value === area.defaultValue ? atFirst : titleOf(area.value.trim(), line.dataset);
  };
  // On the way down: editors announce what was written in them without bubbling.
  fold.addEventListener("input", say, true);
  fold.addEventListener("change", say, true);
  say();
}

/** The preset or sample that a text is, if it is one. */
function titleOf(written, { holds, own, none }) {
  if (written === "" && none) return none;
  const known = [...document.querySelectorAll(holds === "scenario" ? "[data-title]" : "[data-fill]")];
  const found = known.find((each) => each.dataset.text.trim() === written);
  return found ? (found.dataset.title ?? found.querySelector("strong").textContent) : own;
}

/** The release, and which settings differ from its defaults. */
function settingsIn(fold, { none, changed, comma }) {
  const fields = [...fold.querySelectorAll("select, input")].filter((each) => !each.closest("[hidden]"));
  const differs = (each) => each.value !== (each.dataset.default ?? "");
  const names = fields.filter(differs).map((each) => each.labels[0].textContent);
  return names.length === 0 ? none : changed.replace("{settings}", names.join(comma));
}

function fill(editor, chip) {
  const { text, replace } = chip.dataset;
  const presets = [...document.querySelectorAll("[data-fill]")].map((each) => each.dataset.text);
  const own = editor.value.trim() !== "" && !isOneOf(presets, editor.value);
  if (own && !confirm(replace)) return;
  editor.value = text;
  editor.dispatchEvent(new Event("input"));
  editor.focus();
}

function showSamples(select, editor) {
  const samples = [...select.options].map((option) => option.dataset.text ?? "");
  let chosen = select.value;

  select.addEventListener("change", () => {
    const own = editor.value.trim() !== "" && !isOneOf(samples, editor.value);
    const text = select.selectedOptions[0].dataset.text ?? "";
    if (own && text === "") {
      chosen = "";
    } else if (own && !confirm(select.dataset.replace)) {
      select.value = chosen;
    } else {
      editor.value = text;
      editor.dispatchEvent(new Event("input"));
      chosen = select.value;
      select.focus();
    }
  });
}

function isOneOf(texts, written) {
  return texts.some((text) => text.trim() === written.trim());
}
