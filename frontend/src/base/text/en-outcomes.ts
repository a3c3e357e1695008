// English: one or two words for how nodes, plugins, points and cycles fared.

export const outcomes = {
  "outcome.passed": "passed",
  "outcome.failed": "failed",
  "outcome.waiting": "waiting",
  "outcome.skipped": "skipped",
  "outcome.unreached": "not reached",
  "outcome.unknown": "unknown",
  "outcome.ahead": "ahead",
  "outcome.nothing": "–",
  "pluginOutcome.passed": "passed",
  "pluginOutcome.failed": "rejects",
  "pluginOutcome.waiting": "waits",
  "pluginOutcome.skipped": "skipped",
  "pluginOutcome.unevaluated": "not evaluated",
  "verdict.0": "not examined",
  "verdict.1": "fits",
  "verdict.2": "rejected",
  "verdict.3": "not evaluated",
  "verdict.4": "chosen",
  "verdict.5": "nominated",
  "verdict.6": "skipped",
  "verdict.7": "unknown",
  "verdict.8": "held",
  "nominated.room": {
    one: "room is held for nominated pod {pods}",
    other: "room is held for nominated pods {pods}",
  },
  "nominated.rejects": {
    one: "only because nominated pod {pods} counts there",
    other: "only because nominated pods {pods} count there",
  },
  "nominated.changes": {
    one: "nominated pod {pods} counts there as well",
    other: "nominated pods {pods} count there as well",
  },
  "nominated.needed": {
    one: "it fits only beside nominated pod {pods}, and Filter does not rely on that",
    other: "it fits only beside nominated pods {pods}, and Filter does not rely on that",
  },
  "nominated.pod": "{pod} ({amounts})",
  "nominated.nothing": "no requests",
} as const;
