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
  /** Take the detail of a cycle that was not asked for: the newest, while the run is followed. */
  detail(cycle: Cycle, bytes: Uint8Array): void;
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

export interface DeviceHolder {
  readonly claim: string;
  readonly pods: readonly string[];
  readonly pending: boolean;
  readonly admin_access: boolean;
  readonly consumed: Readonly<Record<string, string>>;
}

export interface SurveyedDevice {
  readonly device: string;
  readonly driver: string;
  readonly pool: string;
  readonly slice: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly capacity: Readonly<Record<string, string>>;
  readonly taints: readonly string[];
  readonly shareable: boolean;
  readonly held_by: readonly DeviceHolder[];
}

/** What a request of a claim makes of a device; `values` are what the device has for the expression's names. */
export interface DeviceAnswer {
  readonly claim: string;
  readonly request: string;
  readonly outcome: string;
  readonly text: string;
  readonly expression: string;
  readonly values: Readonly<Record<string, string | null>>;
}

export interface NodeDevices {
  readonly node: string;
  /** What DynamicResources says of the node; empty if it passes. */
  readonly rejection: string;
  /** Pools that give no devices, and why. */
  readonly pools: readonly string[];
  readonly devices: readonly { readonly id: string; readonly answers: readonly DeviceAnswer[] }[];
}

export interface ClaimedRequest {
  readonly name: string;
  readonly device_class: string;
  /** 0 for all that match. */
  readonly count: number;
  readonly selectors: readonly string[];
  readonly class_selectors: readonly string[];
  readonly tolerations: readonly string[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly admin_access: boolean;
}

export interface SurveyedClaim {
  readonly claim: string;
  readonly requests: readonly ClaimedRequest[];
  readonly constraints: readonly string[];
  /** What it has had before this cycle, and where it can use that. */
  readonly devices: readonly string[];
  readonly usable_on: string;
}

/** The devices of one cycle, by `driver/pool/device`; `nodes` are the first of `n_nodes`, or the one asked for. */
export interface DeviceSurvey {
  readonly note: string;
  readonly problem: string;
  readonly claims: readonly SurveyedClaim[];
  readonly devices: Readonly<Record<string, SurveyedDevice>>;
  readonly nodes: readonly NodeDevices[];
  readonly n_nodes: number;
}

/** Ask the server about the run; `path` is below the run's own. Rejects with the server's words, or when given up. */
export type Ask = <Answer>(path: string, signal: AbortSignal) => Promise<Answer>;

export interface Source {
  /** Hand over what there is, headers in order, and go on for as long as more comes. */
  start(receiver: Receiver): void;
  /** The bytes of a cycle's detail, `[detail event, ...]`. */
  detail(cycle: Cycle, signal: AbortSignal): Promise<Uint8Array>;
  /** Say whether the newest cycle is looked at as the run advances. */
  follow(isFollowing: boolean): void;
  /** What each plugin would have said of a cycle's nodes; null where there is no server. */
  readonly also: ((cycle: Cycle) => Promise<Also>) | null;
  /** What plugins prepared in a cycle; null likewise. */
  readonly states: ((cycle: Cycle) => Promise<PreparedStates>) | null;
  /** What became of each device in a cycle; null likewise, and where the cluster has none. */
  readonly devices: ((cycle: Cycle, node: string) => Promise<DeviceSurvey>) | null;
  /** What else is asked for when it is looked at; null where there is no server. */
  readonly ask: Ask | null;
}

/** The line that carries previews, too, as far as who asks for them has to know it. */
export interface Carrier {
  /** Send; false while the line is down. */
  tell(message: object): boolean;
  /** Hears of previews: frames of bytes, what a text frame says, null when the line breaks. */
  onPreview: (frame: DataView<ArrayBuffer> | object | null) => void | Promise<void>;
}

export async function gunzip(bytes: BufferSource): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
