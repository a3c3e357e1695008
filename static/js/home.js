// The landing page plays a recorded run. Without this, and with reduced motion, the still picture stays. The run is
// fetched when the picture comes into view; it pauses by its button, out of view, and in a hidden tab.

const STEP_MS = 1700;
const COLUMNS = 5;
const CELL = 21;
const SIDE = 19;
const SVG = "http://www.w3.org/2000/svg";
const PATHS = {
  rejected: "M8 8l7 7m0-7l-7 7",
  feasible: "M5 10l3.2 3.2 6-7",
  chosen: "m9.5 2.6 1.9 3.9 4.3.6-3.1 3 .7 4.3-3.8-2-3.8 2 .7-4.3-3.1-3 4.3-.6z",
};
const SHADES = [3, 5, 7, 9];
const ORDER = ["filter", "score", "bind"];

const player = document.querySelector("[data-player]");
if (player && !matchMedia("(prefers-reduced-motion: reduce)").matches) whenInView(player.previousElementSibling);

function whenInView(still) {
  const observer = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) return;
    observer.disconnect();
    load(still).catch(() => undefined);
  });
  observer.observe(still);
}

async function load(still) {
  const answer = await fetch(player.dataset.run);
  if (!answer.ok) return;
  const run = await answer.json();
  still.hidden = true;
  player.hidden = false;
  play(run);
}

function play(run) {
  const steps = run.cycles.flatMap((cycle, i) =>
    ["filter", ...(cycle.totals ? ["score"] : []), "bind"].map((point) => ({ cycle, point, i })),
  );
  const button = player.querySelector("button");
  let at = 0;
  let wanted = true;
  let inView = true;
  let timer = 0;

  const tick = () => {
    at = (at + 1) % steps.length;
    show(run, steps[at]);
  };
  const update = () => {
    clearInterval(timer);
    const plays = wanted && inView && !document.hidden;
    if (plays) timer = setInterval(tick, STEP_MS);
    button.textContent = wanted ? button.dataset.pause : button.dataset.play;
  };
  button.addEventListener("click", () => {
    wanted = !wanted;
    update();
  });
  document.addEventListener("visibilitychange", update);
  new IntersectionObserver(([entry]) => {
    inView = entry.isIntersecting;
    update();
  }).observe(player);
  show(run, steps[at]);
  update();
}

function show(run, { cycle, point, i }) {
  player.querySelector("[data-said]").textContent = said(run, cycle, point);
  const place = player.querySelector("[data-place]");
  place.textContent = fill(place.dataset.place, { n: i + 1, all: run.cycles.length });
  for (const item of player.querySelectorAll("[data-point]")) {
    item.toggleAttribute("aria-current", item.dataset.point === point);
    const isAhead = ORDER.indexOf(item.dataset.point) > ORDER.indexOf(point);
    item.querySelector("span").textContent = isAhead ? "" : counts(run, cycle, item.dataset.point);
  }
  const picture = player.querySelector("svg");
  picture.setAttribute("viewBox", `1.5 1.5 ${COLUMNS * CELL - 1} ${Math.ceil(run.nodes.length / COLUMNS) * CELL - 1}`);
  picture.replaceChildren(...run.nodes.map((name, n) => cell(run, cycle, point, name, n)));
}

const fits = (cycle) => cycle.rejected_by.filter((plugin) => plugin === "").length;

function counts(run, cycle, point) {
  if (point === "filter") return `${run.nodes.length} → ${fits(cycle)}`;
  if (point === "score") return cycle.totals ? `${fits(cycle)} → 1` : "–";
  return cycle.node;
}

function said(run, cycle, point) {
  const { filter, single, score, tie, bind } = player.dataset;
  const values = { pod: cycle.pod, node: cycle.node, n: fits(cycle), all: run.nodes.length };
  if (point === "filter") return fill(values.n === 1 ? single : filter, values);
  if (point === "bind") return fill(bind, values);
  const total = Math.max(...cycle.totals.filter((value) => value !== null));
  const tied = cycle.totals.filter((value) => value === total).length;
  return fill(tied > 1 ? tie : score, { ...values, total, tied });
}

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function cell(run, cycle, point, name, n) {
  const group = make("g", { transform: `translate(${2 + (n % COLUMNS) * CELL} ${2 + Math.floor(n / COLUMNS) * CELL})` });
  const plugin = cycle.rejected_by[n];
  const title = make("title", {});
  title.textContent = plugin ? `${name}: ${plugin}` : name;
  const box = make("rect", { width: SIDE, height: SIDE, rx: 3 });
  group.append(title, box);
  const total = cycle.totals?.[n] ?? null;
  if (point === "bind" && name === cycle.node) mark(group, "chosen");
  else if (point === "filter") mark(group, plugin ? "rejected" : "feasible");
  else if (point === "score" && total !== null) rate(group, total, cycle.totals);
  else box.setAttribute("class", "map__out");
  return group;
}

function mark(group, verdict) {
  group.setAttribute("class", `map__${verdict}`);
  group.append(make("path", { d: PATHS[verdict], transform: verdict === "rejected" ? "translate(-2 -2)" : "" }));
}

function rate(group, total, totals) {
  const known = totals.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const share = high > low ? (total - low) / (high - low) : 1;
  group.setAttribute("class", `map__score map__score--${SHADES[Math.round(share * (SHADES.length - 1))]}`);
  const text = make("text", { x: SIDE / 2, y: 12.5 });
  text.textContent = total;
  group.append(text);
}

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== "") element.setAttribute(key, value);
  return element;
}
