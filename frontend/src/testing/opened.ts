// A whole recorded run in the store, at an address, as a component finds it.

import { gunzipSync } from "node:zlib";

import { decompress } from "fzstd";
import { inject } from "vitest";

import { Explorer } from "../store/explorer.ts";
import { readAddress } from "../store/link.ts";
import { Embedded } from "../wire/embedded.ts";
import type { Source } from "../wire/source.ts";

export type RunName =
  | "bound-elsewhere"
  | "cascade"
  | "fit-and-balance"
  | "gangs"
  | "held-place"
  | "lands-elsewhere"
  | "outbid"
  | "permit-victim"
  | "preemption-budget"
  | "why-pending";

/**
 * @param search the address's query; what it names is here when this returns, but not the cycle's details.
 * @param carry what becomes of a request for details; by default it is answered.
 */
export function opened(
  run: RunName,
  search = "",
  carry = (_cycle: number, details: Promise<Uint8Array>): Promise<Uint8Array> => details,
): Explorer {
  const chunks = inject("runs")[run]!;
  const source: Source = new Embedded(
    chunks.map((chunk) => ({ ...chunk, headers: () => chunk.headers, details: () => chunk.details })),
    { type: "status", status: "finished", cycles: 0, bound: 0, pending: 0, last_seq: 0 },
    decompress,
  );
  const fetch = (cycle: number, signal: AbortSignal) => carry(cycle, source.detail(cycle, signal));
  const explorer = new Explorer(run, fetch, localStorage);
  explorer.begin(readAddress(search), true);
  for (const { headers } of chunks) explorer.receive(gunzipSync(Buffer.from(headers, "base64")));
  explorer.hear({ link: "ended" });
  return explorer;
}
