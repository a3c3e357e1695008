// Follows a run that is not over: progress, rate, and the findings once it has ended.

const box = document.querySelector("[data-follow]");
if (box) follow(box);

const PAUSE_MS = 700;

function follow(box) {
  const text = box.querySelector("[data-status]");
  const bar = box.querySelector("[data-progress]");
  let before = null;

  async function look() {
    let run;
    try {
      const answer = await fetch(box.dataset.follow, { headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      run = await answer.json();
    } catch {
      setTimeout(look, 4 * PAUSE_MS); // the server may be restarting
      return;
    }
    if (run.status !== "queued" && run.status !== "running") {
      location.reload();
      return;
    }
    const now = { at: performance.now(), cycles: run.cycles };
    const rate = before ? ((now.cycles - before.cycles) * 1000) / (now.at - before.at) : 0;
    before = now;
    const words = { ...run, rate: Math.round(rate) };
    text.textContent = text.dataset.text.replace(/\{(\w+)\}/g, (_, name) => words[name]);
    if (run.status === "running") {
      bar.max = Math.max(1, run.bound + run.pending);
      bar.value = run.bound;
    }
    setTimeout(look, PAUSE_MS);
  }

  look();
}
