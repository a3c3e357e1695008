// Why a pod found no node: Python and this say the same of every cycle of one fixture, and of every sample.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { cycleRecord } from "./cycle.ts";
import { Fold } from "./fold.ts";
import type { CycleRecord } from "./record.ts";
import { shortBy } from "./shortages.ts";
import { State } from "./state.ts";
import { cycleDetail, type CycleDetail } from "./verdicts.ts";
import { Explanations, funnelStart, wakingEvents } from "./why.ts";
import type { Cause, FunnelStep, NearMiss, Why } from "./why.ts";

interface Case {
  readonly run: string;
  readonly wakes: Readonly<Record<string, readonly string[]>>;
  readonly headers: string;
  readonly cycles: readonly { readonly cycle: number; readonly details: string; readonly why: unknown }[];
}

const text = readFileSync(new URL("../../../tests/trace/why_fixture.json", import.meta.url), "utf8");
const runs = JSON.parse(text) as readonly Case[];
const bytes = (packed: string): Uint8Array => new Uint8Array(Buffer.from(packed, "base64"));

function folded({ headers }: Case): Fold {
  const fold = new Fold();
  fold.append(bytes(headers));
  return fold;
}

function look(fold: Fold, number: number, details: string): { record: CycleRecord; detail: CycleDetail } {
  const record = cycleRecord(fold, number);
  const state = new State(fold);
  state.seek(record.seqs[0]!);
  return { record, detail: cycleDetail(bytes(details), record, state.nodeOrder) };
}

/** As Python prints it: names instead of numbers. */
function named(fold: Fold, found: Why): unknown {
  const plugin = (number: number): string => fold.run!.plugins[number] ?? "";
  const node = (number: number): string => fold.nodeNames[number]!;
  const cause = (each: Cause): unknown => ({
    plugin: each.plugins.map(plugin).join(", "),
    reason: each.reason,
    n_nodes: each.n,
    n_unresolvable: each.unresolvable,
    n_nominated: each.nominated,
  });
  const step = (each: FunnelStep): unknown => ({
    point: each.point,
    plugin: each.plugins.map(plugin).join(", "),
    n_rejected: each.rejected,
    n_left: each.left,
    nodes: each.nodes.map(node),
    causes: each.causes.map(cause),
    n_unresolvable: each.unresolvable,
  });
  const miss = (each: NearMiss): unknown => ({
    ...each,
    node: node(each.node),
    plugin: plugin(each.plugin),
    plugins: each.plugins.map(plugin),
    also: [],
    nominated: each.nominated && {
      effect: each.nominated.effect,
      pods: each.nominated.pods.map(({ pod, requests }) => ({
        pod: fold.podNames[pod],
        requests: Object.fromEntries(
          requests.map((amount, r) => [fold.resources[r]!, amount] as const).filter(([, amount]) => amount),
        ),
      })),
      without: each.nominated.without && { ...each.nominated.without, plugin: plugin(each.nominated.without.plugin) },
    },
  });
  return {
    n_nodes: found.nodes,
    n_examined: found.examined,
    n_feasible: found.feasible,
    n_held: found.held,
    funnel: found.funnel.map(step),
    causes: found.causes.map(cause),
    nearest: found.nearest.map(miss),
  };
}

const cases = runs.flatMap((run) =>
  run.cycles.map((each) => ({ run, ...each, name: `${run.run}, cycle ${each.cycle}` })),
);

describe("why", () => {
  test.each(cases)("says what Python says: $name", ({ run, cycle, details, why: expected }) => {
    const fold = folded(run);
    const { record, detail } = look(fold, cycle, details);
    expect(named(fold, new Explanations(fold).why(record, detail))).toEqual(expected);
  });

  test("says what Python says of every cycle of every sample", () => {
    const root = fileURLToPath(new URL("../../..", import.meta.url));
    const asked = ["-m", "tests.trace.why_cases", "samples"];
    const printed = execFileSync(".venv/bin/python", asked, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
    const samples = JSON.parse(printed) as readonly Case[];
    expect(samples.length).toBeGreaterThan(10);
    for (const run of samples) {
      const fold = folded(run);
      const explanations = new Explanations(fold);
      for (const { cycle, details, why: expected } of run.cycles) {
        const { record, detail } = look(fold, cycle, details);
        expect(named(fold, explanations.why(record, detail)), `${run.run}, cycle ${cycle}`).toEqual(expected);
      }
    }
  }, 60_000);

  test.each(runs)("names the events that each plugin registered for: $run", (run) => {
    const fold = folded(run);
    const found = fold.run!.plugins.map((name, plugin) => [name, wakingEvents(fold, 0, plugin)] as const);
    expect(Object.fromEntries(found.filter(([, events]) => events.length))).toEqual(run.wakes);
    if (run.run === "a plugin of another package") expect(run.wakes).toHaveProperty("Rota");
  });

  test.each(runs)("does not depend on what was explained before: $run", (run) => {
    const fold = folded(run);
    const explanations = new Explanations(fold);
    for (const { cycle, details, why: expected } of [...run.cycles].reverse()) {
      const { record, detail } = look(fold, cycle, details);
      expect(named(fold, explanations.why(record, detail))).toEqual(expected);
      expect(explanations.why(record, detail)).toBe(explanations.why(record, detail));
    }
  });

  test("has counts without the detail, and begins with the nodes that were examined", () => {
    const run = runs.find((each) => each.run === "enough feasible nodes")!;
    const fold = folded(run);
    const { record, detail } = look(fold, 1, run.cycles[0]!.details);
    const counts = new Explanations(fold).why(record, null);
    const all = new Explanations(fold).why(record, detail);
    expect(counts.funnel.map(({ rejected, left }) => ({ rejected, left }))).toEqual(
      all.funnel.map(({ rejected, left }) => ({ rejected, left })),
    );
    expect(counts.nearest).toEqual([]);
    expect(funnelStart(counts)).toBe(record.filter!.n_examined);
    expect(funnelStart(counts)).toBeLessThan(record.started.n_nodes);
  });

  test("says how much is short, beside what is kept for nominated pods", () => {
    const run = runs.find((each) => each.run === "preemption and nomination")!;
    const fold = folded(run);
    const { record, detail } = look(fold, 2, run.cycles[1]!.details);
    const [first] = new Explanations(fold).why(record, detail).nearest;
    expect(first!.shortages.map(shortBy)).toEqual([4000]);
  });
});
