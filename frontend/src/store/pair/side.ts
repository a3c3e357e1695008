// The two sides of a pair of maps: runs, or placements that were handed over.

import type { Cycle, Seq } from "../../base/units.ts";
import { cycleRecord } from "../cycle.ts";
import { Fold } from "../fold.ts";
import { State } from "../state.ts";
import { Placement, type Placed, type PlacementDocument } from "./placed.ts";
import type { Outcomes, PlaceInTime } from "./positions.ts";
import { numbering, type Numbering, type Shared } from "./standing.ts";

export type SideName = "a" | "b";

export interface Side {
  readonly title: string;
  /** The address of a cycle in the Explorer; empty where there is none. */
  readonly explorer: string;
  /** Known when all of it is here. */
  numbers(shared: Shared): Numbering;
  /** Nodes by name with their zones, also of those that are gone. */
  zones(): Iterable<readonly [name: string, zone: string]>;
  /** Where pods are at a place on the timeline. */
  placed(place: PlaceInTime): Placed;
}

export class RunSide implements Side {
  private readonly fold = new Fold();
  private readonly state = new State(this.fold);

  constructor(
    private readonly name: SideName,
    readonly title: string,
    readonly explorer: string,
  ) {}

  /** Take a chunk of headers; returns the last seq that is now here. */
  receive(headers: Uint8Array): Seq {
    this.fold.append(headers);
    return this.fold.trace.length - 1;
  }

  get nCycles(): number {
    return this.fold.chronicle.nCycles;
  }

  numbers(shared: Shared): Numbering {
    return numbering(this.fold.nodeNames, this.fold.podNames, shared);
  }

  outcomes(numbers: Numbering): Outcomes {
    return { chronicle: this.fold.chronicle, numbers };
  }

  *zones(): Iterable<readonly [string, string]> {
    const { nodesSeen, nodeNames, nodeFacts, latestFacts } = this.fold;
    for (const node of nodesSeen) yield [nodeNames[node] ?? "", nodeFacts[latestFacts[node] ?? -1]?.zone ?? ""];
  }

  placed(place: PlaceInTime): Placed {
    const { chronicle, trace } = this.fold;
    this.state.seek(place.tried === "end" ? trace.length : chronicle.endMoment.at(place[this.name]));
    return this.state;
  }

  /** The pod that a cycle is about. */
  podOf(cycle: Cycle): string {
    return this.fold.podNames[this.fold.chronicle.pod.at(cycle)] ?? "";
  }

  /** What a cycle said: its result, node, message, pod and attempt. */
  said(cycle: Cycle): Said {
    const { chronicle, nodeNames } = this.fold;
    return {
      pod: this.podOf(cycle),
      attempt: chronicle.attempt.at(cycle),
      result: chronicle.result.at(cycle),
      node: nodeNames[chronicle.node.at(cycle)] ?? "",
      message: cycleRecord(this.fold, cycle).finished?.message ?? "",
    };
  }
}

export interface Said {
  readonly pod: string;
  readonly attempt: number;
  /** A `Result`. */
  readonly result: number;
  readonly node: string;
  readonly message: string;
}

export class PlacementSide implements Side {
  readonly title: string;
  readonly explorer = "";
  private readonly placement: Placement;

  constructor(private readonly document: PlacementDocument) {
    this.title = document.title;
    this.placement = new Placement(document);
  }

  numbers(shared: Shared): Numbering {
    const { nodes, pods } = this.document;
    return numbering(
      nodes.map(({ name }) => name),
      pods.map(({ pod }) => pod),
      shared,
    );
  }

  zones(): Iterable<readonly [string, string]> {
    return this.document.nodes.map(({ name, zone }) => [name, zone ?? ""] as const);
  }

  placed(): Placed {
    return this.placement;
  }
}
