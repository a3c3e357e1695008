// What the server says of the values behind a cycle's verdicts and scores: docs/evidence.md.

import type { Described } from "./source.ts";

/** A piece of a text, and whether it differs from the other side. */
export type TextPart = readonly [string, boolean];

export interface Requirement {
  readonly kind: string;
  readonly met: boolean;
  readonly asks: string;
  readonly has: string;
  readonly sentence: string;
  readonly detail: string;
  readonly asks_parts: readonly TextPart[];
  readonly has_parts: readonly TextPart[];
  readonly values: Readonly<Record<string, Described>>;
}

export interface PluginEvidence {
  readonly plugin: string;
  readonly code: string;
  readonly reasons: readonly string[];
  readonly sentence: string;
  readonly with_nominated: readonly string[];
  readonly requirements: readonly Requirement[];
}

export interface ScoreEvidence {
  readonly plugin: string;
  readonly formula: string;
  readonly text: string;
  readonly raw: number;
  readonly normalized: number;
  readonly normalized_by: string;
  readonly normalized_text: string;
  readonly weight: number;
  readonly weighted: number;
}

/** Of two nodes: the first, the second. */
export type Both<Value> = readonly [Value, Value];

export interface RequirementPair {
  readonly plugin: string;
  readonly asks: string;
  /** null where it is asked of the other node only. */
  readonly met: Both<boolean | null>;
  readonly has: Both<string | null>;
}

export interface ScorePair {
  readonly plugin: string;
  readonly texts: Both<string>;
  readonly raw: Both<number>;
  readonly normalized: Both<number>;
  readonly weighted: Both<number>;
  readonly weight: number;
  /** How much more the first gets. */
  readonly difference: number;
  readonly decides: boolean;
}

export interface Comparison {
  readonly nodes: Both<string>;
  readonly sentence: string;
  readonly requirements: readonly RequirementPair[];
  /** Empty unless both were scored. */
  readonly scores: readonly ScorePair[];
  readonly totals: Both<number> | null;
  readonly difference: number | null;
}

/** All plugins about one node in one cycle. */
export interface NodeAnswer {
  readonly cycle: number;
  readonly pod: string;
  readonly pod_node: string;
  readonly examined: boolean;
  readonly feasible: boolean;
  readonly requests: readonly { readonly text: string }[];
  readonly pod_rejections: readonly PluginEvidence[];
  readonly evidence: {
    readonly node: string;
    readonly sentence: string;
    readonly rejected_by: readonly string[];
    readonly plugins: readonly PluginEvidence[];
    readonly preemption: { readonly sentence: string } | null;
    readonly scores: readonly ScoreEvidence[];
    readonly total: number | null;
    readonly total_text: string;
  };
  readonly comparison: Comparison | null;
}

export interface Lead {
  readonly text: string;
  readonly headline: string;
  /** Empty if it is about the pod itself. */
  readonly node: string;
  /** What the text leaves out; empty if it leaves out nothing. */
  readonly in_full: string;
  readonly also: readonly string[];
}

/** What a cycle found out about its pod. */
export interface PodAnswer {
  readonly lead: Lead | null;
  /** The scheduler's own that decide about the pod. */
  readonly bugs: readonly { readonly name: string; readonly upstream: string; readonly sentence: string }[];
  /** The rejected nodes, those that say the same together; of many the first are named. */
  readonly groups: readonly {
    readonly plugin: string;
    readonly reasons: readonly string[];
    readonly nodes: readonly string[];
    readonly n_nodes: number;
    readonly sentence: string;
    /** Whether the sentence is that of the first node only. */
    readonly is_example: boolean;
    readonly also: readonly string[];
  }[];
  readonly nearest: readonly {
    readonly node: string;
    readonly sentences: readonly { readonly plugin: string; readonly sentence: string }[];
  }[];
}
