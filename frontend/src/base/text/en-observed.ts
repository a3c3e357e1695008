// English: schedulers that are observed, for parts that are fetched when they are first opened.

export const observed = {
  "observed.queues":
    "The scheduler does not report its queue. These are the pods it was seen to try, the latest first.",
  "observed.pods": "Pods it tried",
  "observed.pod.told": "cycle {cycle}: {node}",
  "observed.pods.none": "None so far.",
  "observed.pod.passed": { one: "cycle {cycle}: {n} node passed", other: "cycle {cycle}: {n} nodes passed" },
  "observed.pod.node": "was on {node} later",
  "observed.note":
    "A real scheduler decided this. It sent kviz, its extender, what is shown here; the rest is unknown.",
  "observed.filter": { one: "{n} node passed", other: "{n} nodes passed" },
  "observed.others": { one: "{n} other node is unknown", other: "{n} other nodes are unknown" },
  "observed.nodes": "Nodes of this attempt",
  "observed.outcome": "What became of it",
  "observed.outcome.node": "A later call of the scheduler names {node} as its node.",
  "observed.outcome.retried": "It was tried again in cycle {n}, so this attempt did not place it.",
  "observed.outcome.nominated": "By now {node} is nominated for it.",
  "observed.outcome.unknown":
    "Unknown. A later call may show it: another attempt, or preemption that finds the pod on a node.",
  "observed.score": "Scores are not reported. That it called prioritize means that more than one node was left.",
  "observed.score.none": "prioritize was not called in this attempt: at most one node was feasible.",
  "observed.preempt": "Where evicting pods would make room",
  "observed.preempt.how":
    "The scheduler evicts these on one of the nodes. Which, and which pods it reprieved, it does not report.",
  "observed.preempt.none": "The scheduler did not call preempt in this attempt.",
  "observed.pdb": { one: "breaks {n} disruption budget", other: "breaks {n} disruption budgets" },
} as const;
