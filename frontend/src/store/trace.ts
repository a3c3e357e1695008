// The header events of a run, kept as the bytes they came in. An event is decoded when it is
// looked at; `offsets` say where each one starts.

import type { Seq } from "../base/units.ts";
import { readHeaderEvent, type HeaderEvent } from "../wire/events.ts";
import { Reader } from "../wire/msgpack.ts";

interface Part {
  first: number;
  reader: Reader;
  offsets: Uint32Array;
}

export class Trace {
  /** How many events there are; their seqs are 0 to length - 1. */
  length = 0;
  private readonly parts: Part[] = [];
  private last: Part | null = null;

  /**
   * Take a chunk's uncompressed headers, `[first_seq, [event, ...]]`. Events already here are
   * passed over; a gap is an error, because nothing after it could be trusted.
   */
  append(bytes: Uint8Array): void {
    const reader = new Reader(bytes);
    reader.array();
    const first = Number(reader.value());
    const offsets = new Uint32Array(reader.array());
    for (let i = 0; i < offsets.length; i++) {
      offsets[i] = reader.at;
      reader.skip();
    }
    const known = this.length - first;
    if (known < 0) throw new Error(`the trace lacks events ${this.length} to ${first - 1}`);
    if (known >= offsets.length) return;
    this.parts.push({ first: this.length, reader, offsets: offsets.subarray(known) });
    this.length = first + offsets.length;
  }

  /** The event as it stands on the wire. */
  row(seq: Seq): readonly unknown[] {
    const part = this.partOf(seq);
    part.reader.at = part.offsets[seq - part.first]!;
    return part.reader.value() as readonly unknown[];
  }

  /** The typed event; null if its kind is newer than this page. */
  event(seq: Seq): HeaderEvent | null {
    return readHeaderEvent(this.row(seq));
  }

  /** The typed event, which must be of the given kind. */
  eventOf<K extends HeaderEvent["kind"]>(seq: Seq, kind: K): Extract<HeaderEvent, { kind: K }> {
    const event = this.event(seq);
    if (event?.kind !== kind) throw new Error(`event ${seq} is no ${kind}`);
    return event as Extract<HeaderEvent, { kind: K }>;
  }

  private partOf(seq: Seq): Part {
    const last = this.last;
    if (last && seq >= last.first && seq < last.first + last.offsets.length) return last;
    let low = 0;
    let high = this.parts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.parts[middle]!.first <= seq) low = middle;
      else high = middle - 1;
    }
    const part = this.parts[low];
    if (!part || seq < part.first || seq >= part.first + part.offsets.length) {
      throw new RangeError(`no event ${seq}`);
    }
    this.last = part;
    return part;
  }
}
