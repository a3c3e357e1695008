// Follows the search for an optimum: what it has found, what nobody can exceed, and then the answer.

const PAUSE_MS = 500;
const RETRY_MS = 3000;
const WIDTH = 600;
const HEIGHT = 120;

const box = document.querySelector("[data-search]");
if (box) follow(box);

function follow(box) {
  let isLeaving = false;
  addEventListener("beforeunload", () => (isLeaving = true));

  async function look() {
    const search = await fetchSearch(box.dataset.search);
    if (isLeaving) return;
    if (search === null) {
      setTimeout(look, RETRY_MS); // the server may be restarting
      return;
    }
    if (search.status !== box.dataset.asked) {
      location.reload();
      return;
    }
    show(box, search);
    setTimeout(look, PAUSE_MS);
  }

  look();
}

async function fetchSearch(address) {
  try {
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

function show(box, search) {
  const last = search.progress.at(-1);
  if (!last) return;
  const text = box.querySelector("[data-status]");
  const missing = { incumbent: text.dataset.nothing, bound: text.dataset.unknown };
  const said = (value) =>
    typeof value === "number" ? value.toLocaleString(document.documentElement.lang) : value;
  text.textContent = text.dataset.text.replace(
    /\{(\w+)\}/g,
    (_, name) => said(last[name]) ?? missing[name],
  );
  const steps = search.progress.filter(
    (step) => step.objective === last.objective && step.bound !== null,
  );
  if (steps.length === 0) return;
  const chart = box.querySelector("[data-chart]");
  chart.hidden = false;
  chart.querySelector("[data-objective]").textContent = last.objective;
  chart.querySelector("[data-found]").setAttribute("points", points(steps, "incumbent", search));
  chart.querySelector("[data-most]").setAttribute("points", points(steps, "bound", search));
}

/** The same picture as `chart_of` in kviz/questions/optimum/bounds.py draws. */
function points(steps, name, search) {
  const values = steps.flatMap((step) => [step.incumbent, step.bound]).filter((v) => v !== null);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const begin = steps[0].elapsed_s;
  const end = Math.max(search.time_limit_s, steps.at(-1).elapsed_s);
  return steps
    .filter((step) => step[name] !== null)
    .map((step) => {
      const x = (WIDTH * (step.elapsed_s - begin)) / Math.max(end - begin, 0.01);
      const y = HEIGHT - ((HEIGHT - 8) * (step[name] - low)) / Math.max(high - low, 1) - 4;
      return `${Math.round(x)},${Math.round(y)}`;
    })
    .join(" ");
}
