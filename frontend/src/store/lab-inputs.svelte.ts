// What the forms of the Lab begin with: the fields of the pod of the cycle shown, and its scoring strategy. The trace
// does not hold them; the server simulates the run up to the cycle, which for a late one is only done when asked for.

import type { Answered, Answers } from "./answers.svelte.ts";
import { answersOf } from "./evidence.ts";
import type { Explorer } from "./explorer.ts";
import type { Lab } from "./lab.svelte.ts";
import type { LabInputs, PodDocument } from "./lab-pod.ts";
import type { Scoring } from "./lab-changes.ts";

/** Cycles times nodes (and 1,000) that a server simulates in a few seconds. */
const SOON = 4_000_000;
const PER_CYCLE = 1000;

export class Inputs {
  /** Whether one has asked for the fields of a late cycle: then those of others are wanted, too. */
  private asked = $state(false);

  /** Made here, so that who reads it first follows it, too. */
  private readonly answers: Answers | null;

  constructor(
    explorer: Explorer,
    private readonly lab: Lab,
  ) {
    this.answers = answersOf(explorer);
  }

  /** Ask for the fields of a late cycle. */
  askFor(): void {
    this.asked = true;
  }

  /** Whether one has to ask. */
  get isFar(): boolean {
    const { recorded, preview } = this.lab;
    if (!recorded || this.asked || preview?.cycle === recorded.number) return false;
    return recorded.number * (PER_CYCLE + recorded.started.n_nodes) > SOON;
  }

  /** How it stands with the answer; null where none is on its way. */
  get state(): Answered<LabInputs> | null {
    return (this.isFar ? null : this.answers?.of<LabInputs>(this.path)) ?? null;
  }

  get pod(): PodDocument | null {
    return this.answer?.pod ?? null;
  }

  get scoring(): Scoring | null {
    return this.answer?.scoring ?? null;
  }

  /** Want the answer; returns how to give it up. */
  want(): (() => void) | undefined {
    return this.lab.recorded && !this.isFar ? this.answers?.want(this.path) : undefined;
  }

  private get answer(): LabInputs | null {
    const { state } = this;
    return state?.kind === "ready" ? state.answer : null;
  }

  private get path(): string {
    return `cycles/${this.lab.recorded?.number ?? 0}/lab/`;
  }
}
