// Follows a run that is not over: progress, rate, other buttons once it is paused or goes on, and
// the findings once it has ended.

const PAUSE_MS = 700;
const RETRY_MS = 3000;
const LIVE = ["queued", "running", "paused"];

const box = document.querySelector("[data-follow]");
if (box) follow(box);

function follow(box) {
  const numbers = new Intl.NumberFormat(document.documentElement.lang || undefined);
  let before = null;
  let alreadyBound = box.dataset.boundBefore === "" ? null : Number(box.dataset.boundBefore);
  let isLeaving = false; // a reload would take the reader back from the page just clicked
  addEventListener("beforeunload", () => (isLeaving = true));
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    isLeaving = false;
    look();
  });

  async function look() {
    const run = await fetchRun(box.dataset.follow);
    if (isLeaving) return;
    if (run === null) {
      setTimeout(look, RETRY_MS); // the server may be restarting
      return;
    }
    if (stateOf(run.status) !== box.dataset.state) {
      location.reload();
      return;
    }
    const now = { at: performance.now(), cycles: run.cycles };
    const rate = before ? ((now.cycles - before.cycles) * 1000) / (now.at - before.at) : 0;
    before = now;
    if (run.last_seq >= 0) alreadyBound ??= run.bound;
    show(box, numbers, { ...run, rate: Math.round(rate) }, alreadyBound ?? 0);
    setTimeout(look, PAUSE_MS);
  }

  look();
}

/** What the page was made for; another state has other buttons and another badge. */
function stateOf(status) {
  return LIVE.includes(status) ? status : "over";
}

async function fetchRun(address) {
  try {
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

function show(box, numbers, run, alreadyBound) {
  const heading = box.querySelector("[data-heading]");
  const text = box.querySelector("[data-status]");
  const bar = box.querySelector("[data-progress]");
  const isLoading = run.status === "running" && run.cycles === 0;
  const words = isLoading ? heading.dataset.loading : heading.dataset[run.status];
  if (heading.textContent !== words) heading.textContent = words;
  if (run.cycles === 0) return;
  text.textContent = text.dataset.text.replace(/\{(\w+)\}/g, (_, name) => numbers.format(run[name]));
  bar.max = Math.max(1, run.bound - alreadyBound + run.pending);
  bar.value = Math.max(0, run.bound - alreadyBound);
}
