// From the answer to a preview to what the Explorer shows: the cycle, its columns, and the run as it would have been
// when the cycle began.

import type { NodeIndex, PodIndex } from "../base/units.ts";
import type { HeaderEvent } from "../wire/events.ts";
import type { Preview } from "../wire/preview.ts";
import { retold } from "./cycle.ts";
import type { Fold, NodeFacts, PodFacts } from "./fold.ts";
import type { CycleRecord } from "./record.ts";
import type { Tried } from "./recording.svelte.ts";
import { State } from "./state.ts";
import { detailOf } from "./verdicts.ts";

/** What is shown of a preview; null if there was no cycle. */
export function previewed(fold: Fold, recorded: CycleRecord, { world, events, details }: Preview): Tried | null {
  if (!events.length) return null;
  const record = retold(fold, recorded, events);
  const state = new ChangedState(fold, recorded.seqs[0] ?? 0, world);
  return { record, detail: detailOf(details, record, state.nodeOrder), state };
}

/** The run just before a cycle began, with what changes did to its nodes and pods. */
class ChangedState extends State {
  private readonly nodes = new Map<NodeIndex, NodeFacts>();
  private readonly pods = new Map<PodIndex, PodFacts>();
  private readonly changedOrder: readonly NodeIndex[] | null = null;
  private readonly moreResources: string[] = [];

  constructor(fold: Fold, moment: number, world: readonly HeaderEvent[]) {
    super(fold);
    this.seek(moment);
    for (const event of world) {
      if (event.kind === "NodeUpdated") this.nodes.set(event.node, { ...super.nodeFacts(event.node)!, ...event });
      else if (event.kind === "PodUpdated") this.pods.set(event.pod, { ...super.podFacts(event.pod)!, ...event });
      else if (event.kind === "ResourcesDefined") this.moreResources.push(...event.names);
      else if (event.kind === "NodeOrderChanged") this.changedOrder = event.nodes;
    }
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
