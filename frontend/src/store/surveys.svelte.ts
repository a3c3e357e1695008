// Which devices there are in a cycle, who holds them and why each was given or refused: asked of the
// server, which simulates the run again up to the cycle, and only once somebody stays to look.

import type { Cycle } from "../base/units.ts";
import type { DeviceSurvey, NodeDevices } from "../wire/source.ts";

export type SurveyState =
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly survey: DeviceSurvey }
  | { readonly kind: "failed"; readonly message: string };

/** `node` is empty for the first nodes of all. */
export type FetchSurvey = (cycle: Cycle, node: string) => Promise<DeviceSurvey>;

const MOST_CACHED = 40;
/** Who steps on before that has not asked. */
const SETTLE_MS = 150;
const LOADING: SurveyState = { kind: "loading" };

export class Surveys {
  #states = $state.raw<ReadonlyMap<string, SurveyState>>(new Map());

  constructor(private readonly fetch: FetchSurvey) {}

  /** How it stands with a cycle; `node` where its first nodes are not enough. */
  of(cycle: Cycle, node = ""): SurveyState {
    return this.#states.get(key(cycle, node)) ?? LOADING;
  }

  /** The devices of one node, once they are here; null if it has none. */
  onNode(cycle: Cycle, name: string): { survey: DeviceSurvey; node: NodeDevices } | null {
    for (const state of [this.of(cycle), this.of(cycle, name)]) {
      if (state.kind !== "ready") continue;
      const node = state.survey.nodes.find((each) => each.node === name);
      if (node) return { survey: state.survey, node };
    }
    return null;
  }

  /** Fetch what is known of a cycle, and of a node that is not among the first; returns how to give up. */
  want(cycle: Cycle, node = ""): () => void {
    const timer = setTimeout(() => void this.load(cycle, node), SETTLE_MS);
    return () => clearTimeout(timer);
  }

  /** Try again to fetch a cycle. */
  retry(cycle: Cycle): void {
    this.set(key(cycle, ""), null);
    void this.load(cycle, "");
  }

  private async load(cycle: Cycle, node: string): Promise<void> {
    const all = await this.answer(cycle, "");
    if (!node || all.kind !== "ready") return;
    const isCut = all.survey.nodes.length < all.survey.n_nodes;
    if (isCut && !all.survey.nodes.some((each) => each.node === node)) await this.answer(cycle, node);
  }

  private async answer(cycle: Cycle, node: string): Promise<SurveyState> {
    const at = key(cycle, node);
    const known = this.#states.get(at);
    if (known) return known;
    this.set(at, LOADING);
    const state = await this.fetch(cycle, node).then(
      (survey): SurveyState => ({ kind: "ready", survey }),
      (error: Error): SurveyState => ({ kind: "failed", message: error.message }),
    );
    this.set(at, state);
    return state;
  }

  private set(at: string, state: SurveyState | null): void {
    const states = new Map(this.#states);
    states.delete(at);
    if (state) states.set(at, state);
    for (const oldest of states.keys()) {
      if (states.size <= MOST_CACHED) break;
      states.delete(oldest);
    }
    this.#states = states;
  }
}

const key = (cycle: Cycle, node: string): string => `${cycle}/${node}`;
