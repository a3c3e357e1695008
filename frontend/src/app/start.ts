// Mounts the Explorer and lets it read a run.

import { mount } from "svelte";

import "../base/ui/ui.css";
import "./app.css";
import { learn } from "../base/text/text.ts";
import { Explorer } from "../store/explorer.ts";
import type { Source } from "../wire/source.ts";
import App from "./App.svelte";
import type { Place, Surroundings } from "./place.ts";

export interface Start {
  readonly root: HTMLElement;
  readonly run: string;
  readonly source: Source;
  readonly place: Place;
  readonly isOver: boolean;
  readonly page: Surroundings;
  /** As `Explorer.released`. */
  readonly released: string;
}

export async function start({ root, run, source, place, isOver, page, released }: Start): Promise<void> {
  await learn();
  const explorer = new Explorer(
    run,
    (cycle, signal) => source.detail(cycle, signal),
    storage(),
    source.also,
    source.states,
    source.devices,
    source.ask,
  );
  explorer.released = released;
  explorer.begin(place.read(), isOver);
  root.replaceChildren();
  mount(App, { target: root, props: { explorer, place, page, follow: (on: boolean) => source.follow(on) } });
  source.start({
    headers: (bytes) => explorer.receive(bytes),
    status: (status) => explorer.hear({ status }),
    link: (link) => explorer.hear({ link }),
    detail: (cycle, bytes) => explorer.details.take(cycle, bytes),
    failed: (error) => (explorer.live.error = error.message),
  });
}

function storage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
