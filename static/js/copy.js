// Copy buttons: each names the element whose text it copies. Without a clipboard they stay hidden.

const SAID_MS = 2000;

if (navigator.clipboard) for (const button of document.querySelectorAll("[data-copy]")) offer(button);

function offer(button) {
  const label = button.textContent;
  let back = 0;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = button.dataset.done;
    } catch {
      button.textContent = button.dataset.failed; // the browser was told not to allow it
    }
    clearTimeout(back);
    back = setTimeout(() => (button.textContent = label), SAID_MS);
  });
}
