// Two sides with one place on their timeline, one node and one pod for both: what is chosen on one map is on the other.

import type { Cycle } from "../../base/units.ts";
import { grouped, type Group } from "../grouping.ts";
import type { PlaceInTime } from "./positions.ts";
import { placesInTime } from "./positions.ts";
import { RunSide, type Side, type SideName } from "./side.ts";
import { differences, Names, standing, type Differences, type Numbering, type Standing } from "./standing.ts";

/** What maps are coloured by, beside resources. */
export const BY_DIFFERENCE = "difference";
export const BY_PODS = "pods";

const ONE_MOMENT: PlaceInTime = { a: 0, b: 0, tried: "end", other: 0, differs: false };

export class Pair {
  readonly shared = { nodes: new Names(), pods: new Names() };
  readonly places: readonly PlaceInTime[];
  /** By the numbers that both sides share. */
  readonly groups: readonly Group[];
  readonly resources: readonly string[];
  /** Where the runs part; -1 if they do not, or it is not known. */
  readonly parting: number;
  /** Places at which the runs differ, in order. */
  readonly differing: readonly number[];
  private readonly numbers: Readonly<Record<SideName, Numbering>>;

  /** Hears of each place one goes to, for the address bar. */
  onMove: (place: number) => void = () => undefined;
  /** A place on the timeline. */
  at = $state(0);
  /** Whether B stands first. */
  swapped = $state(false);
  /** -1 for none. */
  node = $state(-1);
  hover = $state(-1);
  #pod = $state(-1);
  colour = $state(BY_DIFFERENCE);

  readonly standings = $derived.by((): Readonly<Record<SideName, Standing>> => {
    const place = this.places[this.at]!;
    return { a: this.stand("a", place), b: this.stand("b", place) };
  });
  /** The pod one chose, or else the one that is tried here; -1 for none. */
  readonly pod: number = $derived.by(() => (this.#pod >= 0 ? this.#pod : this.podTried(this.places[this.at]!)));
  readonly #onNode = $derived({ a: byNode(this.standings.a), b: byNode(this.standings.b) });
  readonly differences: Differences = $derived(differences(this.standings.a, this.standings.b));

  /** `parting` has the cycles in which the runs part, 0 for one that was over. */
  constructor(
    readonly sides: Readonly<Record<SideName, Side>>,
    parting: { readonly a: Cycle; readonly b: Cycle } | null,
  ) {
    const { a, b } = sides;
    this.numbers = { a: a.numbers(this.shared), b: b.numbers(this.shared) };
    this.places =
      a instanceof RunSide && b instanceof RunSide
        ? placesInTime(a.outcomes(this.numbers.a), b.outcomes(this.numbers.b))
        : [ONE_MOMENT];
    this.groups = grouped(this.zones());
    this.resources = [...new Set([...this.standings.a.placed.resources, ...this.standings.b.placed.resources])].filter(
      (name) => name !== BY_PODS,
    );
    this.parting = parting ? this.placeOf(parting) : -1;
    this.differing = this.places.flatMap(({ differs }, i) => (differs || i === this.parting ? [i] : []));
    this.at = this.parting >= 0 ? this.parting : this.places.length - 1;
  }

  get order(): readonly SideName[] {
    return this.swapped ? ["b", "a"] : ["a", "b"];
  }

  /** Whether there is anything to step through. */
  get hasTime(): boolean {
    return this.places.length > 1;
  }

  get podIsChosen(): boolean {
    return this.#pod >= 0;
  }

  choosePod(pod: number): void {
    this.#pod = pod === this.#pod ? -1 : pod;
  }

  chooseNode(node: number): void {
    this.node = node === this.node ? -1 : node;
  }

  goTo(place: number): void {
    this.at = Math.max(0, Math.min(this.places.length - 1, place));
    this.onMove(this.at);
  }

  /** The next place at which the runs differ, or the previous one; -1 for none. */
  difference(direction: 1 | -1): number {
    const { differing, at } = this;
    return (direction > 0 ? differing.find((place) => place > at) : differing.findLast((place) => place < at)) ?? -1;
  }

  /** Where a cycle of a run stands on the timeline. */
  placeOfCycle(side: SideName, cycle: Cycle): number {
    return this.places.findIndex((place) => place[side] === cycle && (place.tried === side || place.tried === "both"));
  }

  /** Pods of a node on one side, by their numbers. */
  podsOn(side: SideName, node: number): readonly number[] {
    return this.#onNode[side].get(node) ?? [];
  }

  /** Where a pod is: the name of a node, or null where it is on none. */
  whereIs(at: number): string | null {
    return at < 0 ? null : this.shared.nodes.all[at]!;
  }

  private placeOf({ a, b }: { readonly a: Cycle; readonly b: Cycle }): number {
    return a ? this.placeOfCycle("a", a) : this.placeOfCycle("b", b);
  }

  private podTried({ tried, a, b }: PlaceInTime): number {
    const side = tried === "b" ? this.sides.b : this.sides.a;
    if (tried === "none" || tried === "end" || !(side instanceof RunSide)) return -1;
    return this.shared.pods.find(side.podOf(tried === "b" ? b : a));
  }

  private stand(name: SideName, place: PlaceInTime): Standing {
    return standing(this.sides[name].placed(place), this.numbers[name], this.shared);
  }

  /** Every node once, in the order in which they were met; the zone is A's if it has the node. */
  private zones(): Map<number, string> {
    const found = new Map<number, string>();
    for (const side of [this.sides.a, this.sides.b]) {
      for (const [name, zone] of side.zones()) {
        const node = this.shared.nodes.find(name);
        if (node >= 0 && !found.has(node)) found.set(node, zone);
      }
    }
    return found;
  }
}

function byNode({ at }: Standing): Map<number, number[]> {
  const found = new Map<number, number[]>();
  at.forEach((node, pod) => {
    if (node < 0) return;
    const pods = found.get(node);
    if (pods) pods.push(pod);
    else found.set(node, [pod]);
  });
  return found;
}
