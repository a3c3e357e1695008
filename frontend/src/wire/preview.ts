// Asking what would have become of a cycle with something changed. The contract is docs/lab.md.

import type { Cycle } from "../base/units.ts";
import { readHeaderEvent, type HeaderEvent } from "./events.ts";
import { Reader } from "./msgpack.ts";
import { failure, reach } from "./reaching.ts";
import type { Carrier } from "./source.ts";

/** Where to ask, and as whom; `csrf` shows that the page itself asks. */
export interface Server {
  readonly run: string;
  readonly api: string;
  readonly share: string;
  readonly csrf: string;
  readonly carrier: Carrier;
}

export interface Preview {
  readonly cycle: Cycle;
  /** What the changes do to nodes and pods, and then the cycle; none if the pod is held back. */
  readonly world: readonly HeaderEvent[];
  readonly events: readonly HeaderEvent[];
  readonly details: readonly (readonly unknown[])[];
  readonly gated: readonly string[] | null;
  readonly withoutEffect: readonly FieldProblem[];
  /** What a real cluster may have to say to a change. */
  readonly limits: readonly FieldProblem[];
  /** What becomes of the pod, beside what became of it; empty for one that is held back. */
  readonly verdict: string;
}

/** What is wrong with one change: `field` is such as `changes[0].taint.effect`. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** There is no answer; `errors` say which change is at fault, if one is. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly errors: readonly FieldProblem[],
  ) {
    super(message);
  }
}

const BUSY = 503;
const BUSY_RETRY_MS = 700;

export async function fetchPreview(
  server: Server,
  cycle: Cycle,
  changes: readonly unknown[],
  signal: AbortSignal,
): Promise<Preview> {
  const path = `cycles/${cycle}/preview/`;
  const response = await postPatiently(server, path, { changes }, "application/vnd.msgpack", signal);
  if (!response.ok) throw await refusal(response);
  return readPreview(new Uint8Array(await response.arrayBuffer()));
}

/** Start a run like this one with changes, made when a cycle would begin, 0 for at once; returns its id. */
export async function startVariant(server: Server, changes: readonly unknown[], cycle: Cycle): Promise<string> {
  const response = await post(server, "../", { parent: server.run, changes, cycle }, "application/json");
  if (!response.ok) throw await refusal(response);
  return ((await response.json()) as { readonly id: string }).id;
}

/** Keep the cluster as a cycle found it; returns the id of the cluster. */
export async function keepCluster(server: Server, cycle: Cycle): Promise<string> {
  const response = await postPatiently(server, `cycles/${cycle}/snapshot/`, {}, "application/json");
  if (!response.ok) throw await refusal(response);
  return ((await response.json()) as { readonly id: string }).id;
}

interface Packed {
  readonly cycle: Cycle;
  readonly events: readonly (readonly unknown[])[];
  readonly details: readonly (readonly unknown[])[];
  readonly world: number;
  readonly gated: readonly [string, string, readonly string[]] | null;
  readonly without_effect: readonly FieldProblem[];
  readonly limits: readonly FieldProblem[];
  readonly verdict: string;
}

export function readPreview(bytes: Uint8Array): Preview {
  const packed = new Reader(bytes).value() as Packed;
  const events = packed.events.map((row) => readHeaderEvent(row));
  const known = (from: number, to?: number): HeaderEvent[] => events.slice(from, to).filter((event) => event !== null);
  return {
    cycle: packed.cycle,
    world: known(0, packed.world),
    events: known(packed.world),
    details: packed.details,
    gated: packed.gated && [packed.gated[1], ...packed.gated[2]],
    withoutEffect: packed.without_effect,
    limits: packed.limits,
    verdict: packed.verdict,
  };
}

/** For what re-enacts a cycle: asks again while the server re-enacts another one. */
async function postPatiently(...request: Parameters<typeof post>): Promise<Response> {
  const signal = request[4];
  for (;;) {
    const response = await post(...request);
    if (response.status !== BUSY) return response;
    await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
    if (signal?.aborted) return response;
  }
}

function post(
  { api, share, csrf }: Server,
  path: string,
  body: object,
  accept: string,
  signal?: AbortSignal,
): Promise<Response> {
  return reach(`${api}${path}${share ? `?share=${encodeURIComponent(share)}` : ""}`, {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", Accept: accept, "X-CSRFToken": csrf },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
}

/** What a problem document says. */
export interface ProblemDocument {
  readonly detail?: string;
  readonly errors?: readonly FieldProblem[];
}

export async function refusal(response: Response): Promise<Refused> {
  const problem = (await response.json().catch(() => ({}))) as ProblemDocument;
  return new Refused(problem.detail ?? failure(response), problem.errors ?? []);
}
