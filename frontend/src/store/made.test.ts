// What a run follows is said in words, and only what differs from its release.

import { encode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";

import { Fold } from "./fold.ts";
import { madeWith } from "./made.ts";

function started(...more: unknown[]): Fold {
  const fold = new Fold();
  const event = ["RunStarted", "0", 7, 1_000n, [], [], [], ...more];
  fold.append(encode([0, [event]], { useBigInt64: true }));
  return fold;
}

describe("what a run follows", () => {
  test("is its release alone where all is at the defaults", () => {
    const made = madeWith(started(false, "1.36", [], "heap", "listed").run);
    expect(made).toEqual({ release: "Kubernetes v1.36", changes: [] });
  });

  test("says with its release what that was chosen by, where the page knows", () => {
    const { run } = started(false, "1.37.2", [], "heap", "listed");
    expect(madeWith(run, "1.37.2 (nodes say v1.37.1)")?.release).toBe("Kubernetes v1.37.2 (nodes say v1.37.1)");
  });

  test("names gates that were switched, drawn ties and another order of pods", () => {
    const gates = [
      ["SchedulerAsyncPreemption", false],
      ["VolumeLimitScaling", true],
    ];
    expect(madeWith(started(false, "1.36", gates, "draw", "name").run)?.changes).toEqual([
      "SchedulerAsyncPreemption off",
      "VolumeLimitScaling on",
      "draws among equal nodes, seed 7",
      "pending pods queued by name",
    ]);
    expect(madeWith(started(false, "1.36", [], "heap", "created").run)?.changes).toEqual([
      "pending pods queued by age",
    ]);
  });

  test("is not known of an observed scheduler, of an old trace, and before the beginning", () => {
    expect(madeWith(started(true).run)).toBeNull();
    expect(madeWith(started().run)).toBeNull();
    expect(madeWith(new Fold().run)).toBeNull();
  });
});
