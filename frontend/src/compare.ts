// The entry of pages that hold two placements against each other: two runs (`#two-maps`), or two placements that the
// page carries as JSON (`[data-placements]` names the element that has it). Without it those pages have tables.

import { learn } from "./base/text/text.ts";
import type { PlacementPair } from "./store/pair/placed.ts";
import { showPlacements, showRuns, type RunToRead } from "./views/map/pair-start.ts";

type Untitled = Omit<RunToRead, "title">;

/** What the address calls the place on the timeline. */
const PLACE = "at";

for (const root of document.querySelectorAll<HTMLElement>("[data-placements]")) {
  const text = document.getElementById(root.dataset.placements ?? "")?.textContent;
  if (text) told(root, () => showPlacements(root, JSON.parse(text) as PlacementPair));
}

const root = document.getElementById("two-maps");
if (root) told(root, () => runsOf(root));

async function runsOf(root: HTMLElement): Promise<void> {
  const { a = "{}", b = "{}", titleA = "", titleB = "", share = "", partingA = "", partingB = "" } = root.dataset;
  const place = new URLSearchParams(location.search).get(PLACE);
  const pair = await showRuns(root, {
    a: { ...(JSON.parse(a) as Untitled), title: titleA },
    b: { ...(JSON.parse(b) as Untitled), title: titleB },
    share,
    parting: partingA || partingB ? { a: Number(partingA), b: Number(partingB) } : null,
    place: place && /^\d+$/.test(place) ? Number(place) : null,
  });
  pair.onMove = (at) => {
    const address = new URL(location.href);
    address.searchParams.set(PLACE, String(at));
    history.replaceState(null, "", address);
  };
}

/** A page that cannot draw maps says so in their place. */
function told(root: HTMLElement, work: () => void | Promise<void>): void {
  learn()
    .then(work)
    .catch((error: unknown) => {
      root.textContent = error instanceof Error ? error.message : String(error);
    });
}
