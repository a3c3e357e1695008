// Where pods are, on one side of a pair of maps: a run at a moment, or a placement that was handed over as JSON.

import type { NodeIndex, PodIndex } from "../../base/units.ts";

/** What a map needs of nodes and pods, by numbers of the side's own. `State` is one. */
export interface Placed {
  readonly resources: readonly string[];
  readonly nPods: number;
  nodeExists(node: NodeIndex): boolean;
  podFacts(pod: PodIndex): PlacedPod | undefined;
  /** -1 for none. */
  nodeOf(pod: PodIndex): NodeIndex;
  nPodsOn(node: NodeIndex): number;
  requested(node: NodeIndex, resource: number): number;
  allocatable(node: NodeIndex, resource: number): number;
}

export interface PlacedPod {
  /** `namespace/name` */
  readonly key: string;
  readonly name: string;
}

/** A placement as JSON; docs/comparing.md has it. cpu is in milli, memory in bytes. */
export interface PlacementDocument {
  readonly title: string;
  readonly nodes: readonly {
    readonly name: string;
    readonly zone?: string;
    readonly allocatable?: Readonly<Record<string, number>>;
  }[];
  readonly pods: readonly {
    /** `namespace/name` */
    readonly pod: string;
    /** Empty: it waits. */
    readonly node: string;
    readonly requests?: Readonly<Record<string, number>>;
  }[];
}

/** Two of them, for one pair of maps. */
export interface PlacementPair {
  readonly a: PlacementDocument;
  readonly b: PlacementDocument;
}

/** A placement that was handed over: it has one moment. */
export class Placement implements Placed {
  readonly resources: readonly string[];
  readonly nPods: number;
  private readonly pods: readonly PlacedPod[];
  private readonly at: Int32Array;
  private readonly podsOn: Int32Array;
  private readonly sums: readonly Float64Array[];
  private readonly has: readonly Float64Array[];

  /** Raises an error that names a pod whose node is not among the nodes. */
  constructor({ nodes, pods }: PlacementDocument) {
    const known = new Set(["cpu", "memory"]);
    for (const { allocatable } of nodes) for (const name in allocatable) known.add(name);
    this.resources = [...known];
    this.nPods = pods.length;
    this.pods = pods.map(({ pod }) => ({ key: pod, name: pod.slice(pod.indexOf("/") + 1) }));
    const numbers = new Map(nodes.map(({ name }, i) => [name, i]));
    this.at = Int32Array.from(pods, ({ pod, node }) => placeOf(numbers, pod, node));
    this.podsOn = new Int32Array(nodes.length);
    this.has = this.resources.map((name) => Float64Array.from(nodes, ({ allocatable }) => allocatable?.[name] ?? 0));
    this.sums = this.resources.map(() => new Float64Array(nodes.length));
    pods.forEach(({ requests }, i) => {
      const node = this.at[i]!;
      if (node < 0) return;
      this.podsOn[node]!++;
      this.resources.forEach((name, r) => (this.sums[r]![node]! += requests?.[name] ?? 0));
    });
  }

  nodeExists = (): boolean => true;
  podFacts = (pod: PodIndex): PlacedPod | undefined => this.pods[pod];
  nodeOf = (pod: PodIndex): NodeIndex => this.at[pod]!;
  nPodsOn = (node: NodeIndex): number => this.podsOn[node]!;
  requested = (node: NodeIndex, resource: number): number => this.sums[resource]?.[node] ?? 0;
  allocatable = (node: NodeIndex, resource: number): number => this.has[resource]?.[node] ?? 0;
}

function placeOf(numbers: ReadonlyMap<string, number>, pod: string, node: string): number {
  const at = node ? numbers.get(node) : -1;
  if (at === undefined) throw new Error(`${pod}: there is no node ${node}`);
  return at;
}
