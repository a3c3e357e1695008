// Six stops for those who are here for the first time; fetched when they are wanted.

import { driver, type Config, type DriveStep } from "driver.js";

import "../base/text/late.ts";
import { t, type TextKey } from "../base/text/text.ts";
import { forgetTourOffer } from "./preferences.ts";
import "./tour.css";

export type Region = "queues" | "map" | "inspector";

interface Stop {
  readonly name: string;
  readonly region?: Region;
}

const STOPS: readonly Stop[] = [
  { name: "stages" },
  { name: "queues", region: "queues" },
  { name: "map", region: "map" },
  { name: "inspector", region: "inspector" },
  { name: "timeline" },
  { name: "top" },
];

/** The library says of a highlighted region that it opens the popover, as if it were a button. */
const OF_A_BUTTON = ["aria-haspopup", "aria-expanded", "aria-controls"];

/** Lead through the stops; `show` brings a region up where only one fits at a time. */
export function startTour(show: (region: Region) => void, onEnd: () => void): void {
  forgetTourOffer();
  const tour = driver({
    ...words(),
    steps: STOPS.map((stop) => step(stop, show)),
    animate: !isStill(),
    smoothScroll: false,
    stagePadding: 2,
    stageRadius: 6,
    disableActiveInteraction: true,
    showProgress: true,
    popoverClass: "tour",
    onPopoverRender: ({ nextButton }) =>
      queueMicrotask(() => {
        const region = document.querySelector(".driver-active-element");
        for (const name of OF_A_BUTTON) region?.removeAttribute(name);
        nextButton.focus();
      }),
    onDestroyStarted: () => {
      tour.destroy();
      onEnd();
    },
  });
  tour.drive();
}

function step({ name, region }: Stop, show: (region: Region) => void): DriveStep {
  return {
    element: () => {
      if (region) show(region);
      return document.querySelector(`.explorer > .${name}`)!;
    },
    popover: { title: t(`tour.${name}.title` as TextKey), description: t(`tour.${name}` as TextKey) },
  };
}

function words(): Partial<Config> {
  return {
    progressText: t("tour.progress", { at: "{{current}}", of: "{{total}}" }),
    nextBtnText: t("tour.next"),
    prevBtnText: t("tour.back"),
    doneBtnText: t("tour.done"),
  };
}

const isStill = (): boolean =>
  matchMedia("(prefers-reduced-motion: reduce)").matches || document.documentElement.classList.contains("no-motion");
