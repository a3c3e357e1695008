// English: the Lab, fetched with it.

export const lab = {
  "lab.title": "Lab",
  "lab.close": "Close the Lab",
  "lab.undo": "Undo",
  "lab.redo": "Redo",
  "lab.noCycle": "Go to a cycle to try changes in it.",
  "lab.garbled": "The changes in this address cannot be read. It may have been cut off; nothing is tried.",
  "lab.outcome": "Happened and tried",
  "lab.happened": "Happened",
  "lab.triedShort": "Tried",
  "lab.total": "total {n}",
  "lab.pending": "no node",
  "lab.ahead": "{n} ahead of {node}",
  "lab.tied": { one: "{n} equal", other: "{n} equal, the rule for ties decides" },
  "lab.drawn": "{n} equal: one is drawn, the star stands for it",
  "lab.single": "the only node that fits",
  "lab.sameNode": "The same node is chosen.",
  "lab.otherNode": "{node} is chosen instead of {before}.",

  "lab.weights": "Weights of Score",
  "lab.weights.how":
    "A total is the sum of normalized score × weight. The bar on a slider shows for which weights of that plugin the " +
    "choice stays.",
  "lab.weights.none": "No scores in this cycle: weights change nothing.",
  "lab.weights.single": "One node fits, so kube-scheduler does not score: weights change nothing.",
  "lab.weight": "Weight of {plugin}",
  "lab.weight.value": "Weight of {plugin}, as a number",
  "lab.weight.was": "was {n}",
  "lab.weight.reset": "Weight of {plugin} was {n}: set it back",
  "lab.weight.range": "stays from {low} to {high}",
  "lab.weight.from": "stays from {low}",
  "lab.weight.any": "stays whatever the weight",
  "lab.weight.only": "stays at {low} only",
  "lab.weight.skipped": "Nothing to score in this cycle, so without scores to weigh: {plugins}.",
  "lab.weight.disabled":
    "Disabled at Score in this run, so without scores to weigh: {plugins}. To enable one takes a run of its own.",
  "lab.weight.invalid": "Give a whole number from 1 to {most}.",
} as const;
