// Nodes in groups, in an order that never changes while one steps: by first appearance, also nodes
// that come later or are gone by now, by their latest labels.

import type { NodeIndex } from "../base/units.ts";
import type { Fold, NodeFacts } from "./fold.ts";
import { taintText } from "./nodes.ts";
import type { State } from "./state.ts";

export interface Group {
  /** Empty for the nodes without the label, or for all nodes together. */
  readonly name: string;
  readonly nodes: readonly NodeIndex[];
}

const POOL_LABELS = [
  "pool",
  "node-pool",
  "nodepool",
  "cloud.google.com/gke-nodepool",
  "eks.amazonaws.com/nodegroup",
  "kubernetes.azure.com/agentpool",
  "karpenter.sh/nodepool",
  "agentpool",
];
const MANY = 60;

export class Grouping {
  private key = "";
  private groups: Group[] = [];
  private labelsOf = -1;
  private knownLabels: string[] = [];

  /** Reads the fold afresh each time, so that who asks follows what arrives. */
  constructor(private readonly recording: { readonly fold: Fold; readonly state: State }) {}

  /** `by` is `zone`, `pool`, `taint`, `none` or `label:KEY`. */
  by(by: string): readonly Group[] {
    const { fold, state } = this.recording;
    const added = state.addedNodes;
    const key = `${by} ${fold.nodeFacts.length} ${fold.nodesSeen.length} ${added.join()}`;
    if (key !== this.key) {
      const factsOf = (node: NodeIndex): NodeFacts | undefined => latestFacts(fold, node) ?? state.nodeFacts(node);
      this.groups = group([...fold.nodesSeen, ...added], factsOf, by);
      this.key = key;
    }
    return this.groups;
  }

  /** The labels worth grouping by: those that neither all nodes nor single nodes have. */
  labels(): readonly string[] {
    const { fold } = this.recording;
    if (this.labelsOf !== fold.nodeFacts.length) {
      this.labelsOf = fold.nodeFacts.length;
      this.knownLabels = countLabels(fold);
    }
    return this.knownLabels;
  }
}

function countLabels(fold: Fold): string[] {
  const values = new Map<string, Set<string>>();
  for (const facts of latest(fold)) {
    for (const [label, value] of Object.entries(facts.labels)) {
      const known = values.get(label) ?? new Set();
      values.set(label, known.size > MANY ? known : known.add(value));
    }
  }
  return [...values]
    .filter(([, v]) => v.size > 1 && v.size <= MANY)
    .map(([label]) => label)
    .sort();
}

const latestFacts = (fold: Fold, node: NodeIndex): NodeFacts | undefined =>
  fold.nodeFacts[fold.latestFacts[node] ?? -1];

function* latest(fold: Fold): Generator<NodeFacts> {
  for (const node of fold.nodesSeen) {
    const facts = latestFacts(fold, node);
    if (facts) yield facts;
  }
}

function group(nodes: readonly NodeIndex[], factsOf: (node: NodeIndex) => NodeFacts | undefined, by: string): Group[] {
  const name = namer(by);
  const names = new Map<NodeIndex, string>();
  for (const node of nodes) {
    const facts = factsOf(node);
    if (facts) names.set(node, name(facts));
  }
  return grouped(names);
}

/** Groups in the order of their names, each with its nodes in the order in which they are given. */
export function grouped(names: ReadonlyMap<NodeIndex, string>): Group[] {
  const found = new Map<string, number[]>();
  for (const [node, key] of names) {
    const nodes = found.get(key);
    if (nodes) nodes.push(node);
    else found.set(key, [node]);
  }
  const collator = new Intl.Collator("en", { numeric: true });
  return [...found]
    .sort(([a], [b]) => Number(a === "") - Number(b === "") || collator.compare(a, b))
    .map(([key, nodes]) => ({ name: key, nodes }));
}

function namer(by: string): (facts: NodeFacts) => string {
  if (by === "none") return () => "";
  if (by === "zone") return (facts) => facts.zone;
  if (by === "taint") return (facts) => facts.taints.map(taintText).sort().join(", ");
  if (by === "pool") {
    return (facts) => {
      const label = POOL_LABELS.find((key) => key in facts.labels);
      return label ? facts.labels[label]! : "";
    };
  }
  const label = by.slice("label:".length);
  return (facts) => facts.labels[label] ?? "";
}
