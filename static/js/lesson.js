// Reloads a lesson's step when what it waits for is there: a revealed cycle, or an attempt's end.

const PAUSE_MS = 400;

const box = document.querySelector("[data-waits]");
if (box) setTimeout(look, PAUSE_MS);

async function look() {
  try {
    const answer = await fetch(box.dataset.waits, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.ok && !page.querySelector("[data-waits]")) {
      location.replace(location.pathname);
      return;
    }
  } catch {
    // the server may be restarting
  }
  setTimeout(look, PAUSE_MS);
}
