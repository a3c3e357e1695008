// Reads what a pair of maps shows, says how far it is, and mounts it.

import { mount } from "svelte";

import "../../base/text/pair.ts";
import { t } from "../../base/text/text.ts";
import { Pair } from "../../store/pair/pair.svelte.ts";
import type { PlacementPair } from "../../store/pair/placed.ts";
import { PlacementSide, RunSide, type Side, type SideName } from "../../store/pair/side.ts";
import { served } from "../../wire/client.ts";
import TwoMaps from "./TwoMaps.svelte";
import { LETTERS } from "./pair-words.ts";

/** Draw two placements that the page carries. */
export function showPlacements(root: HTMLElement, { a, b }: PlacementPair): void {
  show(root, new Pair({ a: new PlacementSide(a), b: new PlacementSide(b) }, null));
}

export interface RunToRead {
  readonly id: string;
  readonly title: string;
  readonly cycles: number;
  /** The Explorer's address, with CYCLE where the cycle goes. */
  readonly explorer: string;
}

export interface RunsToRead {
  readonly a: RunToRead;
  readonly b: RunToRead;
  readonly share: string;
  /** The cycles in which they part, 0 for one that was over; null if they do not. */
  readonly parting: { readonly a: number; readonly b: number } | null;
  /** Where the page was left, as the address has it. */
  readonly place: number | null;
}

/** Read two runs that are over, and draw them. */
export async function showRuns(root: HTMLElement, { a, b, share, parting, place }: RunsToRead): Promise<Pair> {
  const [sideA, sideB] = await Promise.all([read(root, "a", a, share), read(root, "b", b, share)]);
  const pair = new Pair({ a: sideA, b: sideB }, parting);
  if (place !== null) pair.goTo(place);
  show(root, pair);
  return pair;
}

function show(root: HTMLElement, pair: Pair): void {
  root.replaceChildren();
  mount(TwoMaps, { target: root, props: { pair } });
}

function read(root: HTMLElement, name: SideName, run: RunToRead, share: string): Promise<Side> {
  const side = new RunSide(name, run.title, run.explorer);
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const source = served(`${scheme}://${location.host}/ws/runs/${run.id}/`, `/api/v1/runs/${run.id}/`, share, false);
  const line = root.appendChild(document.createElement("p"));
  return new Promise((resolve, reject) => {
    source.start({
      headers: (bytes) => {
        const last = side.receive(bytes);
        line.textContent = t("pair.reading", { side: LETTERS[name], n: side.nCycles, all: run.cycles });
        return last;
      },
      status: () => undefined,
      link: (link) => {
        if (link === "ended") resolve(side);
        else if (link === "refused") reject(new Error(t("pair.lost")));
      },
      failed: reject,
      detail: () => undefined,
    });
  });
}
