// One node's dry run of preemption as it is played: all pods of lower priority are taken away, then given
// back one by one as long as the preemptor fits beside them.

import type { PodIndex } from "../base/units.ts";
import type { CandidateRecord } from "../wire/events.ts";
import type { Explorer } from "./explorer.ts";
import type { Trial } from "./selection.svelte.ts";

/** How a pod of the node stands: not tried yet, back on the node, or to be evicted. */
export type Standing = "removed" | "reprieved" | "victim";

export interface TrialShown {
  readonly trial: Trial;
  readonly candidate: CandidateRecord;
  /** The pods that were taken away, in the order in which they are tried; then those that never are. */
  readonly standings: ReadonlyMap<PodIndex, Standing>;
  /** The pod tried last; -1 before the first. */
  readonly tried: PodIndex;
}

/** The dry run that is played at the moment shown, if its tab is open. */
export function trialShown({ selection, navigation, details }: Explorer): TrialShown | null {
  const { trial } = selection;
  if (!trial || selection.tab !== "preempt" || navigation.record?.number !== trial.cycle) return null;
  const candidate = details.ready?.dryRun?.candidates.find(({ node }) => node === trial.node);
  return candidate ? { trial, candidate, ...standingsAt(candidate, trial.step) } : null;
}

export function standingsAt(
  { removed, reprieves }: Pick<CandidateRecord, "removed" | "reprieves">,
  step: number,
): Pick<TrialShown, "standings" | "tried"> {
  const standings = new Map<PodIndex, Standing>();
  reprieves.forEach(({ pod, kept }, i) => standings.set(pod, i >= step ? "removed" : kept ? "reprieved" : "victim"));
  for (const pod of removed) if (!standings.has(pod)) standings.set(pod, "removed");
  return { standings, tried: reprieves[step - 1]?.pod ?? -1 };
}
