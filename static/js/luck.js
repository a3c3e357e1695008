// Waits on the page of a run until it is known how lucky its placements were.

const FIRST_MS = 1000;
const LONGEST_MS = 15000;

const text = document.querySelector("[data-expected]");
if (text) look(text, FIRST_MS);

function look(text, pauseMs) {
  setTimeout(async () => {
    const now = await current();
    if (!now || "expected" in now.dataset) {
      look(text, Math.min(1.5 * pauseMs, LONGEST_MS)); // the server may be restarting
    } else {
      text.replaceChildren(...now.childNodes);
    }
  }, pauseMs);
}

/** The same text as the page would have it now; null if the page cannot be had. */
async function current() {
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) return null;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return page.querySelector(".luck");
  } catch {
    return null;
  }
}
