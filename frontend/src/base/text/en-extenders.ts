// English: calls to scheduler extenders, and real schedulers that are observed by being one.

export const extenders = {
  "calls.chip": "extender {verb}",
  "calls.gloss": "{url}: {effect}",
  "calls.answered": "answered",
  "calls.failed": "failed",
  "observed.passed": {
    one: "{pod}: {n} node passed the scheduler's filters. Whether it was chosen, the scheduler does not report.",
    other: "{pod}: {n} nodes passed the scheduler's filters. Which of them it chose, it does not report.",
  },
  "observed.evicts": {
    one: "{pod} is unschedulable. The scheduler would evict pods on {n} node; whether it did, it does not report.",
    other: "{pod} is unschedulable. The scheduler would evict pods on one of {n} nodes; which, it does not report.",
  },
  "observed.scores": {
    one: "The scheduler scores {n} node. It does not report the scores.",
    other: "The scheduler scores {n} nodes. It does not report the scores.",
  },
  "observed.start": "Listening. The first pod that the scheduler is seen to try appears here.",
  "observed.plugins": "The scheduler does not report its plugins.",
  "observed.unknown": "?",
  "observed.bound": "{pod} was bound to {node}.",
  "observed.refused": "{pod} got no node: {message}",
  "observed.node.filtered": "rejected by an in-tree plugin or another extender (the scheduler does not report which)",
  "observed.node.maybe": "rejected or not examined: the scheduler does not report which",
} as const;
