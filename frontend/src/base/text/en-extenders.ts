// English: calls to scheduler extenders, and real schedulers that are observed by being one.

export const extenders = {
  "calls.chip": "extender {verb}",
  "calls.gloss": "{url}: {effect}",
  "calls.answered": "answered",
  "calls.failed": "failed",
  "observed.passed": {
    one: "{pod}: {n} node passed the scheduler's filters. The scheduler does not report whether it was chosen.",
    other: "{pod}: {n} nodes passed the scheduler's filters. It does not report which of them it chose.",
  },
  "observed.evicts": {
    one: "{pod} is unschedulable. The scheduler would evict pods on {n} node; it does not report whether it did.",
    other: "{pod} is unschedulable. The scheduler would evict pods on one of {n} nodes; it does not report which.",
  },
  "observed.scores": {
    one: "The scheduler scores {n} node. It does not report the scores.",
    other: "The scheduler scores {n} nodes. It does not report the scores.",
  },
  "observed.start": "Listening. The first pod the scheduler tries appears here.",
  "observed.plugins": "The scheduler does not report its plugins.",
  "observed.unknown": "?",
  "observed.bound": "{pod} was bound to {node}.",
  "observed.refused": "{pod} got no node: {message}",
} as const;
