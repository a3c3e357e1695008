// The run form works without this. With it: choosing a sample scenario shows it in the editor.

const select = document.querySelector("[data-sample]");
if (select) enhance(select, document.getElementById(select.dataset.sample));

function enhance(select, editor) {
  let chosen = select.value;

  select.addEventListener("change", () => {
    const own = editor.value.trim() !== "" && !isSample(select, editor.value);
    const text = select.selectedOptions[0].dataset.text ?? "";
    if (own && text === "") {
      chosen = "";
    } else if (own && !confirm(select.dataset.replace)) {
      select.value = chosen;
    } else {
      editor.value = text;
      chosen = select.value;
    }
  });
}

function isSample(select, text) {
  return [...select.options].some((option) => option.dataset.text?.trim() === text.trim());
}
