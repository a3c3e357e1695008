// Reads traces that Python generates, and says what this side makes of them (tests/trace/test_both_folds.py).

import process from "node:process";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";

import { cycleRecord } from "../store/cycle.ts";
import { Fold } from "../store/fold.ts";
import type { CycleRecord } from "../store/record.ts";
import { State } from "../store/state.ts";
import { snapshot } from "./snapshot.ts";

interface Asked {
  /** Gzipped headers of chunks, in base64. */
  readonly chunks: readonly string[];
  /** After how many events to look, in the order in which to go there. */
  readonly moments: readonly number[];
}

/** Answer each line of the input, a trace, with one of the output, until the input ends. */
export async function answerLines(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${answer(JSON.parse(line) as Asked)}\n`);
  }
}

function answer({ chunks, moments }: Asked): string {
  const fold = new Fold();
  for (const chunk of chunks) fold.append(gunzipSync(Buffer.from(chunk, "base64")));
  const state = new State(fold);
  const states = moments.map((moment) => {
    state.seek(moment);
    return snapshot(state);
  });
  const cycles = Array.from({ length: fold.chronicle.nCycles }, (_, i) => plain(cycleRecord(fold, i + 1)));
  return JSON.stringify({ states, cycles }, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value));
}

/** A record in the shape in which Python has it. */
function plain(record: CycleRecord): object {
  const { preemption } = record;
  return {
    started: row(record.started),
    finished: row(record.finished),
    pre_filter: row(record.preFilter),
    filter: row(record.filter),
    pre_score: row(record.preScore),
    selected: row(record.selected),
    post_filter: row(record.postFilter),
    preemption_started: row(preemption.started),
    preemption_decided: row(preemption.decided),
    preemption_ineligible: row(preemption.ineligible),
    extender_calls: record.extenders.map(row),
    points: Object.fromEntries(record.points.map(({ point, status }) => [point, row(status)])),
  };
}

/** Events and records are positional on the wire; here their fields come in the same order. */
function row(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(row);
  return typeof value === "object" && value !== null ? Object.values(value).map(row) : value;
}
