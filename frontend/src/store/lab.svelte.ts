// The Lab: changes one tries, and what would have become of the cycle shown. Weights are tried here, on the scores
// of the cycle.

import { textIfAny } from "../base/text/text.ts";
import type { Explorer } from "./explorer.ts";
import { read, subject, withChange, without, written, type Change } from "./lab-changes.ts";
import { interval, weigh, type Interval, type Weighing } from "./lab-weights.ts";
import type { CycleRecord, PointStep } from "./record.ts";
import type { Tried } from "./recording.svelte.ts";

/** Edits of one thing closer together than this are undone together: a slider that is dragged. */
const BURST_MS = 800;
const NO_CHANGES: readonly Change[] = [];

/** A plugin of Score; `interval` is null where it had nothing to score. */
export interface PluginWeight {
  readonly plugin: number;
  readonly name: string;
  /** What the run gives it. */
  readonly recorded: number;
  readonly weight: number;
  readonly interval: Interval | null;
}

export class Lab {
  readonly changes: readonly Change[] = $derived.by(() => read(this.explorer.changes) ?? NO_CHANGES);
  /** Whether the address has changes that cannot be read. */
  readonly isGarbled: boolean = $derived.by(() => read(this.explorer.changes) === null);
  #undone = $state.raw<readonly string[]>([]);
  #done = $state.raw<readonly string[]>([]);
  #latest = { subject: "", at: -Infinity };
  readonly recorded: CycleRecord | null = $derived.by(() => {
    const { navigation } = this.explorer;
    return this.explorer.record(navigation.position.cycle);
  });
  /** The scores under the weights that are tried; null where the cycle has none. */
  readonly weighing: Weighing | null = $derived.by(() => {
    const selected = this.recorded?.selected;
    const scores = this.explorer.details.recorded?.scores;
    if (!selected || !scores) return null;
    // Upstream draws among the nodes that an extender has scored.
    const rule = this.recorded.extenders.some(({ verb }) => verb === "prioritize") ? "draw" : selected.rule;
    return weigh(scores, selected, this.weights, rule);
  });
  readonly tried: Tried | null = $derived.by(() => {
    const { recorded, weighing } = this;
    const detail = this.explorer.details.recorded;
    if (!recorded || !detail || !weighing || !this.weights.size) return null;
    const { selected, scores } = weighing;
    const points = recorded.points.map((step) => (step.point === "Score" ? this.weighed(step) : step));
    return { record: { ...recorded, selected, points }, detail: { ...detail, scores } };
  });

  constructor(private readonly explorer: Explorer) {}

  /** Weights that are tried, by plugin number. */
  private readonly weights: ReadonlyMap<number, number> = $derived.by(() => {
    const found = new Map<number, number>();
    for (const change of this.changes) {
      if ("weight" in change) found.set(this.explorer.pluginNumber(change.weight.plugin), change.weight.weight);
    }
    return found;
  });

  private weighed(step: PointStep): PointStep {
    const plugins = step.plugins.map((each) => ({ ...each, weight: this.weights.get(each.plugin) ?? each.weight }));
    return { ...step, plugins };
  }

  /** The plugins of Score in this cycle, as the profile has them. */
  get plugins(): PluginWeight[] {
    const { weighing, recorded, weights } = this;
    const step = recorded?.points.find(({ point }) => point === "Score");
    return (step?.plugins ?? []).map(({ plugin, weight, outcome }) => ({
      plugin,
      name: this.explorer.pluginName(plugin),
      recorded: weight,
      weight: weights.get(plugin) ?? weight,
      interval: weighing && outcome === "passed" ? interval(weighing, plugin) : null,
    }));
  }

  /** Plugins of the run that can score and are not enabled for it. */
  get disabled(): number[] {
    const attached = new Set(this.plugins.map(({ plugin }) => plugin));
    const { plugins } = this.explorer.run ?? { plugins: [] };
    return plugins.flatMap((name, i) => (textIfAny(`formula.${name}`) && !attached.has(i) ? [i] : []));
  }

  /** The cycle as it is shown: tried, or as it happened. */
  get shown(): CycleRecord | null {
    return this.tried?.record ?? this.recorded;
  }

  get canUndo(): boolean {
    return this.#done.length > 0;
  }

  get canRedo(): boolean {
    return this.#undone.length > 0;
  }

  /** Try a change, in place of one about the same. */
  put(change: Change): void {
    const about = subject(change);
    const now = performance.now();
    const goesOn = this.#latest.subject === about && now - this.#latest.at < BURST_MS;
    this.#latest = { subject: about, at: now };
    this.set(withChange(this.changes, change), goesOn);
  }

  /** Try a plugin with a weight; with the recorded one there is nothing to try. */
  weigh(plugin: string, weight: number, recorded: number): void {
    const change: Change = { weight: { plugin, weight } };
    if (weight === recorded) this.remove(subject(change));
    else this.put(change);
  }

  remove(about: string): void {
    this.#latest = { subject: "", at: -Infinity };
    this.set(without(this.changes, about));
  }

  /** Go back to what happened. */
  clear(): void {
    if (this.changes.length) this.set(NO_CHANGES);
  }

  undo(): void {
    this.travel(this.#done.at(-1), [this.#done.slice(0, -1), [...this.#undone, this.explorer.changes]]);
  }

  redo(): void {
    this.travel(this.#undone.at(-1), [[...this.#done, this.explorer.changes], this.#undone.slice(0, -1)]);
  }

  private travel(to: string | undefined, [done, undone]: [readonly string[], readonly string[]]): void {
    if (to === undefined) return;
    [this.#done, this.#undone] = [done, undone];
    this.#latest = { subject: "", at: -Infinity };
    this.explorer.setChanges(to, "replace");
  }

  private set(changes: readonly Change[], goesOn = false): void {
    if (!goesOn) this.#done = [...this.#done, this.explorer.changes];
    this.#undone = [];
    this.explorer.setChanges(written(changes), "replace");
  }
}
