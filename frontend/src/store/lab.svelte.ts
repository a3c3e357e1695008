// The Lab: changes one tries, and what would have become of the cycle shown. The server evaluates the cycle again with
// changed objects; weights are tried here, on the scores of either.

import "../base/text/late.ts";
import { textIfAny } from "../base/text/text.ts";
import type { FieldProblem, Preview, Refused, Server } from "../wire/preview.ts";
import { Previews, type Progress } from "../wire/previews.ts";
import { Memory } from "./cells.ts";
import type { Explorer } from "./explorer.ts";
import {
  inOrder,
  isRule,
  read,
  subject,
  subjectOfField,
  withChange,
  without,
  written,
  type Change,
  type Json,
  type Scoring,
  type Target,
} from "./lab-changes.ts";
import { previewed } from "./lab-preview.ts";
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

const same = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b);

export class Lab {
  readonly changes: readonly Change[] = $derived.by(() => read(this.explorer.changes) ?? NO_CHANGES);
  /** Whether the address has changes that cannot be read. */
  readonly isGarbled: boolean = $derived.by(() => read(this.explorer.changes) === null);
  #undone = $state.raw<readonly string[]>([]);
  #done = $state.raw<readonly string[]>([]);
  #latest = { subject: "", at: -Infinity };
  /** The latest answer, until another comes or nothing is asked any more. */
  preview = $state.raw<Preview | null>(null);
  /** Why there is none. */
  problem = $state.raw<Refused | null>(null);
  asking = $state(false);
  /** How far the server is with simulating the run up to the cycle; null where it need not. */
  progress = $state.raw<Progress | null>(null);
  /** All but weights, which need no server, as they are sent. */
  readonly sent: readonly Change[] = $derived.by(() => inOrder(this.changes.filter((change) => !("weight" in change))));
  readonly recorded: CycleRecord | null = $derived.by(() => {
    const { navigation } = this.explorer;
    return this.explorer.record(navigation.position.cycle);
  });
  /** The pod of the cycle, by `namespace/name`. */
  readonly pod: string = $derived.by(() => (this.recorded ? this.explorer.podKey(this.recorded.started.pod) : ""));
  /** The cycle before weights are tried: as the changes make it once that is here, else as it was recorded. */
  private readonly base: Tried | null = $derived.by(() => {
    const { recorded, preview, explorer } = this;
    if (!recorded) return null;
    const isAsked = preview?.cycle === recorded.number && this.sent.length > 0;
    const changed = isAsked ? this.answered(recorded, preview) : null;
    const detail = explorer.details.recorded;
    return changed ?? (detail && { record: recorded, detail, state: null, events: null });
  });
  /** The scores under the weights that are tried; null where the cycle has none. */
  readonly weighing: Weighing | null = $derived.by(() => {
    const { base } = this;
    const selected = base?.record.selected;
    const scores = base?.detail.scores;
    if (!selected || !scores) return null;
    // Upstream draws among the nodes that an extender has scored.
    const rule = base.record.extenders.some(({ verb }) => verb === "prioritize") ? "draw" : selected.rule;
    return weigh(scores, selected, this.weights, rule);
  });
  readonly tried: Tried | null = $derived.by(() => {
    const { base, weighing } = this;
    const isWeighed = weighing !== null && this.weights.size > 0;
    if (!base || !isWeighed) return base?.state ? base : null;
    const { selected, scores } = weighing;
    const points = base.record.points.map((step) => (step.point === "Score" ? this.weighed(step) : step));
    return { ...base, record: { ...base.record, selected, points }, detail: { ...base.detail, scores } };
  });

  private readonly previews: Previews | null;
  /** The run when the cycle began that is tried. */
  #before: Memory | null = null;

  /** `server` is null on a page that carries its run: nothing but weights is tried there. */
  constructor(
    private readonly explorer: Explorer,
    readonly server: Server | null,
  ) {
    this.previews = server && new Previews(server, this.listener);
  }

  /** Ask what becomes of the cycle shown. Until the answer is here, what was tried last is shown. */
  ask(): void {
    const { previews, sent, recorded } = this;
    const isAsked = previews !== null && recorded !== null && sent.length > 0;
    this.asking = isAsked;
    this.problem = null;
    if (isAsked) {
      previews.ask(recorded.number, sent);
      return;
    }
    this.preview = null;
    previews?.forget();
  }

  private answered(recorded: CycleRecord, preview: Preview): Tried | null {
    const { fold } = this.explorer;
    this.#before ??= new Memory(fold.journal);
    return previewed(fold, this.#before, recorded, preview);
  }

  /** Hear nothing any more. */
  close(): void {
    this.previews?.close();
  }

  private get listener(): ConstructorParameters<typeof Previews>[1] {
    const settle = (): void => {
      this.asking = false;
      this.progress = null;
    };
    return {
      answer: (preview, isLatest) => {
        this.preview = preview;
        if (isLatest) settle();
      },
      problem: (refused) => {
        this.preview = null;
        this.problem = refused;
        settle();
      },
      progress: (progress) => (this.progress = progress),
    };
  }

  /** What the server says of a change: that it is wrong, or that nothing follows. */
  remarkOn(change: Change): string {
    const isOf = this.about(change);
    return (this.problem?.errors.find(isOf) ?? this.preview?.withoutEffect.find(isOf))?.message ?? "";
  }

  /** What a real cluster may have to say to a change. */
  limitsOn(change: Change): readonly string[] {
    return (this.preview?.limits ?? []).filter(this.about(change)).map(({ message }) => message);
  }

  private about(change: Change): (problem: FieldProblem) => boolean {
    const at = `changes[${this.sent.indexOf(change)}]`;
    return ({ field }) => field === at || field.startsWith(`${at}.`);
  }

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
    const { weighing, weights } = this;
    const step = this.shown?.points.find(({ point }) => point === "Score");
    return (step?.plugins ?? []).map(({ plugin, weight, outcome }) => ({
      plugin,
      name: this.explorer.pluginName(plugin),
      recorded: this.recordedWeight(plugin, weight),
      weight: weights.get(plugin) ?? weight,
      interval: weighing && outcome === "passed" ? interval(weighing, plugin) : null,
    }));
  }

  private recordedWeight(plugin: number, shown: number): number {
    const step = this.base?.record.points.find(({ point }) => point === "Score");
    return step?.plugins.find((each) => each.plugin === plugin)?.weight ?? shown;
  }

  /** Plugins of the run that can score and are not enabled for it. */
  get disabled(): number[] {
    const attached = new Set(this.plugins.map(({ plugin }) => plugin));
    const { plugins } = this.explorer.run ?? { plugins: [] };
    return plugins.flatMap((name, i) => (textIfAny(`formula.${name}`) && !attached.has(i) ? [i] : []));
  }

  /** Whether the choice shown is made under other weights, here, and not by the server. */
  get isWeighed(): boolean {
    return this.weights.size > 0 && this.tried !== null;
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
    this.putAll([change]);
  }

  /** Try several changes at once: they are undone together. */
  putAll(changes: readonly Change[]): void {
    const goesOn = this.goesOn(changes.map(subject).join());
    this.set(changes.reduce(withChange, this.changes), goesOn);
  }

  /** Whether an edit goes on with the one before: a handle that is dragged. */
  private goesOn(about: string): boolean {
    const now = performance.now();
    const goesOn = this.#latest.subject === about && now - this.#latest.at < BURST_MS;
    this.#latest = { subject: about, at: now };
    return goesOn;
  }

  /** The value that is tried of a field; undefined if none is. */
  fieldOf(target: Target, path: string): Json | undefined {
    const about = subjectOfField(target, path);
    const found = this.changes.find((change) => subject(change) === about);
    return found && "set" in found ? found.set.value : undefined;
  }

  /** Try values of fields; with the recorded one there is nothing to try. */
  setFields(target: Target, fields: readonly { path: string; value: Json; recorded: Json }[]): void {
    const isTried = fields.filter(({ value, recorded }) => !same(value, recorded));
    const others = fields.filter(({ value, recorded }) => same(value, recorded));
    const goesOn = this.goesOn(fields.map(({ path }) => path).join());
    const left = others.reduce((list, { path }) => without(list, subjectOfField(target, path)), this.changes);
    const changes = isTried.map(({ path, value }): Change => ({ set: { ...target, path, value } }));
    this.set(changes.reduce(withChange, left), goesOn);
  }

  /** The scoring strategy that is tried; null if none is. */
  get scoring(): Scoring | null {
    const found = this.changes.find((change) => "scoring" in change);
    return found ? found.scoring : null;
  }

  /** How many nodes like one are tried. */
  copiesOf(node: string): number {
    const found = this.changes.find((change) => "copyNode" in change && change.copyNode.node === node);
    return found && "copyNode" in found ? found.copyNode.copies : 0;
  }

  copyNode(node: string, copies: number): void {
    const change: Change = { copyNode: { node, copies } };
    if (copies) this.put(change);
    else this.remove(subject(change));
  }

  /** Try a scoring strategy; with the recorded one there is nothing to try. */
  score(scoring: Scoring, recorded: Scoring): void {
    if (same(scoring as unknown as Json, recorded as unknown as Json)) this.remove("scoring");
    else this.put({ scoring });
  }

  /** Whether something is tried that holds from the beginning of a run. */
  get hasRules(): boolean {
    return this.changes.some(isRule);
  }

  /** Try a plugin with a weight; with the recorded one there is nothing to try. */
  weigh(plugin: string, weight: number, recorded: number): void {
    const change: Change = { weight: { plugin, weight } };
    if (weight === recorded) this.remove(subject(change));
    else this.put(change);
  }

  remove(...about: readonly string[]): void {
    this.#latest = { subject: "", at: -Infinity };
    this.set(about.reduce(without, this.changes));
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
    const text = written(changes);
    if (text === this.explorer.changes) return;
    if (!goesOn) this.#done = [...this.#done, this.explorer.changes];
    this.#undone = [];
    this.explorer.setChanges(text, "replace");
  }
}
