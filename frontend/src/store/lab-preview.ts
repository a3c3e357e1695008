// From the answer to a preview to what the Explorer shows: the cycle, its columns, and the run as it would have been
// when the cycle began.

import type { NodeIndex, PodIndex } from "../base/units.ts";
import type { HeaderEvent, NodeAdded } from "../wire/events.ts";
import type { Preview } from "../wire/preview.ts";
import type { Memory } from "./cells.ts";
import { retold } from "./cycle.ts";
import type { Fold, NodeFacts, PodFacts } from "./fold.ts";
import type { CycleRecord } from "./record.ts";
import type { Tried } from "./recording.svelte.ts";
import { State } from "./state.ts";
import { detailOf } from "./verdicts.ts";

/**
 * What is shown of a preview; null if there was no cycle. `memory` is taken to where the cycle began, and what is
 * returned reads it: the next answer about the same cycle finds it there.
 */
export function previewed(
  fold: Fold,
  memory: Memory,
  recorded: CycleRecord,
  { world, events, details }: Preview,
): Tried | null {
  if (!events.length) return null;
  memory.seek(recorded.seqs[0] ?? 0);
  const record = retold(fold, recorded, events);
  const state = new ChangedState(fold, memory, world);
  return { record, detail: detailOf(details, record, state.nodeOrder), state, events: [...world, ...events] };
}

/** The run just before a cycle began, with what changes did to its nodes and pods. */
class ChangedState extends State {
  private readonly nodes = new Map<NodeIndex, NodeFacts>();
  private readonly pods = new Map<PodIndex, PodFacts>();
  private readonly changedOrder: readonly NodeIndex[] | null = null;
  private readonly moreResources: string[] = [];
  private readonly added: NodeIndex[] = [];
  private readonly deleted = new Set<NodeIndex>();

  constructor(fold: Fold, memory: Memory, world: readonly HeaderEvent[]) {
    super(fold, memory);
    for (const event of world) {
      if (event.kind === "NodeUpdated") this.nodes.set(event.node, { ...super.nodeFacts(event.node)!, ...event });
      else if (event.kind === "NodeAdded") this.add(event);
      else if (event.kind === "NodeDeleted") this.deleted.add(event.node);
      else if (event.kind === "PodUpdated") this.pods.set(event.pod, { ...super.podFacts(event.pod)!, ...event });
      else if (event.kind === "ResourcesDefined") this.moreResources.push(...event.names);
      else if (event.kind === "NodeOrderChanged") this.changedOrder = event.nodes;
    }
  }

  private add({ kind: _, node, ...facts }: NodeAdded): void {
    this.nodes.set(node, facts);
    if (!this.fold.nodesSeen.includes(node)) this.added.push(node);
  }

  override get nodesSeen(): readonly NodeIndex[] {
    return this.added.length ? [...super.nodesSeen, ...this.added] : super.nodesSeen;
  }

  override get addedNodes(): readonly NodeIndex[] {
    return this.added;
  }

  override nodeExists(node: NodeIndex): boolean {
    return !this.deleted.has(node) && (this.nodes.has(node) || super.nodeExists(node));
  }

  override get resources(): string[] {
    return [...super.resources, ...this.moreResources];
  }

  override get nodeOrder(): readonly NodeIndex[] {
    return this.changedOrder ?? super.nodeOrder;
  }

  override nodeFacts(node: NodeIndex): NodeFacts | undefined {
    return this.nodes.get(node) ?? super.nodeFacts(node);
  }

  override podFacts(pod: PodIndex): PodFacts | undefined {
    return this.pods.get(pod) ?? super.podFacts(pod);
  }
}
