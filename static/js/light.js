// The light of a live session: looks whether the scheduler has called, and then shows its calls.

const PAUSE_MS = 2000;

// Who has clicked a link is on the way: to reload now would take them back.
let isLeaving = false;
addEventListener("click", (event) => (isLeaving ||= event.target.closest("a[href]") !== null));

const light = document.querySelector("[data-session]");
if (light) look(light.dataset.session);

async function look(address) {
  try {
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    const run = answer.ok ? await answer.json() : null;
    if (isLeaving) return;
    if (run && run.cycles > 0) {
      location.reload();
      return;
    }
  } catch {
    // the server may be restarting
  }
  setTimeout(() => look(address), PAUSE_MS);
}
