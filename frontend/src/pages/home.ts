// The entry of the landing page: a recorded run plays on it. Without this, and with reduced motion, the still picture
// stays. The run is fetched when the picture comes into view.

import { mount } from "svelte";

import { documentAt } from "../base/page.ts";
import Player from "../views/home/Player.svelte";
import type { Recorded } from "../views/home/recorded.ts";

const place = document.querySelector<HTMLElement>("[data-player]");
const still = place?.previousElementSibling;
const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
if (place && still instanceof HTMLElement && !isStill) whenInView(place, still);

function whenInView(place: HTMLElement, still: HTMLElement): void {
  const observer = new IntersectionObserver(([entry]) => {
    if (!entry?.isIntersecting) return;
    observer.disconnect();
    void play(place, still);
  });
  observer.observe(still);
}

async function play(place: HTMLElement, still: HTMLElement): Promise<void> {
  const { run: address = "", filter = "", single = "", score = "", tie = "", bind = "" } = place.dataset;
  const { map = "", pause = "", play = "", at = "", source = "" } = place.dataset;
  const run = await documentAt<Recorded>(address);
  if (!run) return;
  still.hidden = true;
  mount(Player, {
    target: place,
    props: { run, texts: { filter, single, score, tie, bind, map, pause, play, at, source } },
  });
}
