// The entry of an experiment's page: it follows one that is not over, and draws its charts. Without it the page is read
// again by hand.

import { documentAt, Leaving, pageAt, pause } from "./base/page.ts";
import type { Lines } from "./views/experiment/chart.ts";

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

const leaving = new Leaving();

void draw();
void follow();

async function draw(): Promise<void> {
  const places = [...document.querySelectorAll<HTMLElement>("[data-chart]")];
  if (places.length === 0) return;
  const { drawChart } = await import("./views/experiment/chart.ts");
  for (const place of places) {
    const data = place.querySelector("script")?.textContent;
    if (data && place.isConnected) drawChart(place, JSON.parse(data) as Lines);
  }
}

/** Look how far it is, and show the page as it would be now, until it is over. */
async function follow(): Promise<void> {
  let doing = "";
  for (let looks = 1; ; looks++) {
    const place = document.querySelector<HTMLElement>("[data-experiment]");
    if (!place || leaving.now || !LIVE.includes(place.dataset.state ?? "")) return;
    const found = await documentAt<Progress>(place.dataset.experiment ?? "");
    const isNews = found && (found.status !== place.dataset.state || String(found.n_done) !== place.dataset.done);
    if (isNews && !leaving.now && !isBeingRead(place, found)) await renew("[data-experiment]");
    else if (found && JSON.stringify(found.doing) !== doing) await renew(".doing");
    if (found) doing = JSON.stringify(found.doing);
    await pause(found ? (looks <= FIRST_LOOKS ? FIRST_PAUSE_MS : PAUSE_MS) : RETRY_MS);
  }
}

/** What is opened would be closed: it stays as it is until the end. */
function isBeingRead(place: HTMLElement, found: Progress): boolean {
  return LIVE.includes(found.status) && place.querySelector("details[open]") !== null;
}

/** Put what is at a place of the page as it would be now. */
async function renew(what: string): Promise<void> {
  const now = (await pageAt(location.href))?.querySelector<HTMLElement>(what);
  const before = document.querySelector<HTMLElement>(what);
  if (!now || !before || leaving.now) return;
  before.replaceWith(document.adoptNode(now));
  if (now.querySelector("[data-chart]")) await draw();
}
