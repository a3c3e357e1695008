// Where a run is read from. There are two: a server (client.ts), and a page that carries the run
// itself (embedded.ts). Whoever reads cannot tell them apart, except that a page computes nothing more.

import type { Cycle, Seq } from "../base/units.ts";

export type RunStatus = "queued" | "running" | "paused" | "finished" | "failed" | "cancelled";

const LIVE: readonly string[] = ["queued", "running", "paused"];

/** Whether more may come. */
export const isLive = (status: string): boolean => LIVE.includes(status);

export interface StatusFrame {
  readonly type: "status";
  readonly status: RunStatus;
  readonly cycles: number;
  readonly bound: number;
  readonly pending: number;
  readonly last_seq: Seq;
  readonly error?: string;
}

/** `ended`: the run is over and all of it is here. `refused`: there is no such run for this viewer. */
export type Link = "connecting" | "open" | "waiting" | "ended" | "refused";

export interface Receiver {
  /** Take a chunk's headers; returns the last seq that is now here. */
  headers(bytes: Uint8Array): Seq;
  status(frame: StatusFrame): void;
  link(link: Link): void;
  failed(error: Error): void;
}

/** What each plugin would have said of a node had the ones before it let it pass, by node name. */
export type Also = Readonly<Record<string, readonly { plugin: string; reasons: readonly string[] }[]>>;

export type Scalar = string | number | boolean | null;

/** A plugin's state as the server describes it: scalars, lists, and values by name. */
export type Described = Scalar | readonly Described[] | { readonly [name: string]: Described };

export interface Prepared {
  readonly plugin: string;
  readonly skipped: boolean;
  readonly state: Described;
}

/** What plugins prepared for Filter and for Score in one cycle. */
export interface PreparedStates {
  readonly pre_filter: readonly Prepared[];
  readonly pre_score: readonly Prepared[];
}

export interface Source {
  /** Hand over what there is, headers in order, and go on for as long as more comes. */
  start(receiver: Receiver): void;
  /** The bytes of a cycle's detail, `[detail event, ...]`. */
  detail(cycle: Cycle, signal: AbortSignal): Promise<Uint8Array>;
  /** What each plugin would have said of a cycle's nodes; null where there is no server. */
  readonly also: ((cycle: Cycle) => Promise<Also>) | null;
  /** What plugins prepared in a cycle; null likewise. */
  readonly states: ((cycle: Cycle) => Promise<PreparedStates>) | null;
}

export async function gunzip(bytes: BufferSource): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
