// The entry of an experiment's page: it follows one that is not over, and draws its charts. Without it the page is read
// again by hand.

import type { Chart } from "./views/experiment/chart.ts";

const PAUSE_MS = 700;
/** The first answers are waited for. */
const FIRST_PAUSE_MS = 200;
const FIRST_LOOKS = 40;
const RETRY_MS = 3000;
const LIVE = ["queued", "running"];

interface Progress {
  readonly status: string;
  readonly n_done: number;
  /** How far the variants under way are. */
  readonly doing: readonly unknown[];
}

let isLeaving = false; // to put another page into place would take the reader back from the one just clicked
addEventListener("beforeunload", () => (isLeaving = true));

void draw();
void follow();

async function draw(): Promise<void> {
  const places = [...document.querySelectorAll<HTMLElement>("[data-chart]")];
  if (places.length === 0) return;
  const { drawChart } = await import("./views/experiment/chart.ts");
  for (const place of places) {
    const data = place.querySelector("script")?.textContent;
    if (data && place.isConnected) drawChart(place, JSON.parse(data) as Chart);
  }
}

/** Look how far it is, and show the page as it would be now, until it is over. */
async function follow(): Promise<void> {
  let doing = "";
  for (let looks = 1; ; looks++) {
    const place = document.querySelector<HTMLElement>("[data-experiment]");
    if (!place || isLeaving || !LIVE.includes(place.dataset.state ?? "")) return;
    const found = await progress(place.dataset.experiment ?? "");
    const isNews = found && (found.status !== place.dataset.state || String(found.n_done) !== place.dataset.done);
    if (isNews && !isLeaving && !isBeingRead(place, found)) await renew("[data-experiment]");
    else if (found && JSON.stringify(found.doing) !== doing) await renew(".doing");
    if (found) doing = JSON.stringify(found.doing);
    await new Promise((resolve) =>
      setTimeout(resolve, found ? (looks <= FIRST_LOOKS ? FIRST_PAUSE_MS : PAUSE_MS) : RETRY_MS),
    );
  }
}

/** What is opened would be closed: it stays as it is until the end. */
function isBeingRead(place: HTMLElement, found: Progress): boolean {
  return LIVE.includes(found.status) && place.querySelector("details[open]") !== null;
}

async function progress(address: string): Promise<Progress | null> {
  const answer = await fetch(address, { headers: { Accept: "application/json" } }).catch(() => null);
  return answer?.ok ? ((await answer.json()) as Progress) : null;
}

/** Put what is at a place of the page as it would be now. */
async function renew(what: string): Promise<void> {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const now = page.querySelector<HTMLElement>(what);
  const before = document.querySelector<HTMLElement>(what);
  if (!now || !before || isLeaving) return;
  before.replaceWith(document.adoptNode(now));
  if (now.querySelector("[data-chart]")) await draw();
}
