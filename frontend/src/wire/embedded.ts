// A run that stands in its page: every chunk is two elements of text, base64 of what the server has
// stored. Headers are read at the start, the columns of a cycle when somebody looks at it.

import type { Cycle } from "../base/units.ts";
import { Reader } from "./msgpack.ts";
import { gunzip, type Receiver, type Source, type StatusFrame } from "./source.ts";

export interface EmbeddedChunk {
  readonly firstCycle: Cycle;
  readonly lastCycle: Cycle;
  /** Base64 of gzip of `[first_seq, [event, ...]]`. */
  headers(): string;
  /** Base64 of zstd of `[[cycle, [detail event, ...]], ...]`. */
  details(): string;
}

export type Unpack = (bytes: Uint8Array) => Uint8Array;

/** Unpacked chunks of details; stepping stays within one for a while. */
const KEPT = 4;
const NO_EVENTS = Uint8Array.of(0x90);

export class Embedded implements Source {
  readonly also = null;
  readonly states = null;
  readonly devices = null;
  readonly ask = null;
  private readonly unpacked = new Map<EmbeddedChunk, Uint8Array>();

  /** `unzstd` is what browsers lack. */
  constructor(
    private readonly chunks: readonly EmbeddedChunk[],
    private readonly status: StatusFrame,
    private readonly unzstd: Unpack,
  ) {}

  start(receiver: Receiver): void {
    void this.hand(receiver).catch((error: unknown) =>
      receiver.failed(error instanceof Error ? error : new Error(String(error))),
    );
  }

  private async hand(receiver: Receiver): Promise<void> {
    for (const chunk of this.chunks) receiver.headers(await gunzip(fromBase64(chunk.headers())));
    receiver.status(this.status);
    receiver.link("ended");
  }

  /** Nothing is added to a page. */
  follow(): void {
    return;
  }

  detail(cycle: Cycle): Promise<Uint8Array> {
    const chunk = this.chunks.find((c) => c.firstCycle <= cycle && cycle <= c.lastCycle);
    if (!chunk) return Promise.reject(new Error(`cycle ${cycle} is not in this page`));
    return Promise.resolve(ofCycle(this.detailsOf(chunk), cycle));
  }

  private detailsOf(chunk: EmbeddedChunk): Uint8Array {
    const details = this.unpacked.get(chunk) ?? this.unzstd(fromBase64(chunk.details()));
    this.unpacked.delete(chunk);
    this.unpacked.set(chunk, details);
    for (const oldest of this.unpacked.keys()) {
      if (this.unpacked.size <= KEPT) break;
      this.unpacked.delete(oldest);
    }
    return details;
  }
}

/** The part of a chunk's details that belongs to a cycle; a cycle without any is left out there. */
function ofCycle(details: Uint8Array, cycle: Cycle): Uint8Array {
  const reader = new Reader(details);
  for (let left = reader.array(); left > 0; left--) {
    reader.array();
    const number = reader.value();
    const from = reader.at;
    reader.skip();
    if (number === cycle) return details.subarray(from, reader.at);
  }
  return NO_EVENTS;
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The chunks and the state of a run as they stand in a page. */
export function readPage(root: ParentNode, unzstd: Unpack): Embedded {
  const text = (selector: string): string => root.querySelector(selector)?.textContent ?? "";
  const chunks = [...root.querySelectorAll<HTMLElement>("[data-headers]")].map((element): EmbeddedChunk => ({
    firstCycle: Number(element.dataset.first),
    lastCycle: Number(element.dataset.last),
    headers: () => element.textContent,
    details: () => text(`[data-details="${element.dataset.headers}"]`),
  }));
  return new Embedded(chunks, JSON.parse(text("#status")) as StatusFrame, unzstd);
}
