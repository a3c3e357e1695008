// The run form works without this. With it: presets and sample scenarios appear in their editor,
// nothing else that was typed is lost, and the seed shows only where it counts.

const select = document.querySelector("[data-sample]");
if (select) showSamples(select, document.getElementById(select.dataset.sample));

const seed = document.querySelector("[data-seed]");
if (seed) showSeedWhereItCounts(seed);

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
