// The runs that components are shown in tests: simulated when the tests begin, so that what a component
// reads is what the engine writes today (tests/trace/recorded_runs.py).

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import type { TestProject } from "vitest/node";

/** A chunk of a run as a page carries it (EmbeddedChunk), its parts in base64. */
export interface RecordedChunk {
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly headers: string;
  readonly details: string;
}

declare module "vitest" {
  interface ProvidedContext {
    runs: Readonly<Record<string, readonly RecordedChunk[]>>;
  }
}

export default function setup(project: TestProject): void {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const runs = execFileSync(".venv/bin/python", ["-m", "tests.trace.recorded_runs"], { cwd: root, encoding: "utf8" });
  project.provide("runs", JSON.parse(runs) as Record<string, RecordedChunk[]>);
}
