// Pictures for tests: what they do not name is empty.

import type { NodeDrawn, Picture, PodDrawn, PodInQuestion, PodOnNode } from "../../wire/classroom.ts";

const POD: PodDrawn = { name: "", requests: {}, priority: null, labels: [], asks: [] };

export function node(name: string, more: Partial<NodeDrawn> = {}): NodeDrawn {
  const plain = { zone: "", state: "", says: "", is_cordoned: false, room: {}, n_pods: 0 } as const;
  return { name, ...plain, taints: [], labels: [], pods: [], holds: [], scores: [], ...more };
}

export function podOn(name: string, more: Partial<PodOnNode> = {}): PodOnNode {
  return { ...POD, name, is_victim: false, breaks_budget: false, started: "", ...more };
}

export function next(name: string, more: Partial<PodInQuestion> = {}): PodInQuestion {
  return { ...POD, name, tolerates: [], ...more };
}

export function picture(more: Partial<Picture> = {}): Picture {
  const plain = { cycle: 0, kinds: [], pod: null, is_next: true, resources: [], most: {}, weights: {}, nodes: [] };
  const rest = { n_nodes: more.nodes?.length ?? 0, waiting: [], n_waiting: 0, in_order: true, history: [], events: [] };
  return { ...plain, ...rest, ...more };
}
