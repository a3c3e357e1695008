// Copy buttons: each names the element whose text it copies, or the address it is at. Without a clipboard
// they stay hidden.

const SAID_MS = 2000;

if (navigator.clipboard) for (const button of document.querySelectorAll("[data-copy], [data-copy-from]")) offer(button);

function offer(button) {
  const label = button.textContent;
  let back = 0;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(await textFor(button.dataset));
      button.textContent = button.dataset.done;
    } catch {
      button.textContent = button.dataset.failed; // no answer, or the browser was told not to allow it
    }
    clearTimeout(back);
    back = setTimeout(() => (button.textContent = label), SAID_MS);
  });
}

async function textFor({ copy, copyFrom }) {
  if (copy) return document.getElementById(copy).textContent;
  const answer = await fetch(copyFrom);
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}
