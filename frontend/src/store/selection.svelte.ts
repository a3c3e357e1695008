// What is selected, and what the pointer is on.

import type { Cycle, NodeIndex, PodIndex } from "../base/units.ts";
import type { Tab } from "./link.ts";
import type { Navigation, Remember } from "./navigation.svelte.ts";

export interface Hover {
  readonly node: NodeIndex;
  readonly pod: PodIndex;
}

export const NO_HOVER: Hover = { node: -1, pod: -1 };

export interface Choice {
  /** null: whichever pod the cycle is about. */
  readonly pod?: PodIndex | null;
  readonly node?: NodeIndex;
  readonly other?: NodeIndex;
  readonly tab?: Tab;
}

/** Which dry run of preemption is played, and how many of its pods have been tried. */
export interface Trial {
  readonly cycle: Cycle;
  readonly node: NodeIndex;
  readonly step: number;
}

export class Selection {
  /** -1 for none. */
  node = $state<NodeIndex>(-1);
  /** What that is compared with, if one chose a node; -1 for none. */
  other = $state<NodeIndex>(-1);
  tab = $state<Tab>("why");
  hover = $state.raw(NO_HOVER);
  /** The dry run of preemption that is played; it shows while its cycle and its tab do. */
  trial = $state.raw<Trial | null>(null);
  /** Nodes outside are faded on the map; null: none is. */
  lit = $state.raw<ReadonlySet<NodeIndex> | null>(null);
  /** Pods outside are faded in the queues; null: none is. */
  litPods = $state.raw<ReadonlySet<PodIndex> | null>(null);
  #pinned = $state<PodIndex>(-1);
  /** The pod one asked for, or else the cycle's; -1 before the first. */
  readonly pod: PodIndex = $derived.by(() =>
    this.#pinned >= 0 ? this.#pinned : (this.navigation.record?.started.pod ?? -1),
  );
  readonly podIsPinned: boolean = $derived(this.#pinned >= 0);

  /** `onCommit` hears of what the address bar should show. */
  constructor(
    private readonly navigation: Navigation,
    private readonly onCommit: (remember: Remember) => void,
  ) {}

  select(choice: Choice, remember: Remember = "push"): void {
    this.set(choice);
    this.onCommit(remember);
  }

  /** Change the selection, without a word to the address bar. */
  set({ pod, node, other, tab }: Choice): void {
    if (pod !== undefined) this.#pinned = pod ?? -1;
    if (node !== undefined) this.node = node;
    if (other !== undefined) this.other = other;
    if (tab !== undefined) this.tab = tab;
  }

  setHover(hover: Hover): void {
    if (hover.node !== this.hover.node || hover.pod !== this.hover.pod) this.hover = hover;
  }
}
