// What a run follows: its Kubernetes release, and what is not as that release has it.

import { t } from "../base/text/text.ts";
import type { RunStarted } from "../wire/events.ts";

export interface MadeWith {
  readonly release: string;
  /** Gates that are not at their default, and rules that were chosen; in words. */
  readonly changes: readonly string[];
}

/**
 * Null where it is not known: of a scheduler that is observed, and in traces of earlier versions. `released` is
 * the release with what it was chosen by, where the page knows that.
 */
export function madeWith(run: RunStarted | null, released = ""): MadeWith | null {
  if (!run?.release) return null;
  const changes = run.gates.map(({ name, enabled }) => t(enabled ? "made.on" : "made.off", { gate: name }));
  if (run.tie_break === "draw") changes.push(t("made.drawn", { seed: String(run.seed) }));
  if (run.queue_order === "name") changes.push(t("made.byName"));
  if (run.queue_order === "created") changes.push(t("made.byAge"));
  return { release: t("made.release", { release: released || run.release }), changes };
}
