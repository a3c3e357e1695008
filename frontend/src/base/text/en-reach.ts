// English: how much of the optimum of a run is still in reach.

export const reach = {
  "reach.label": "How much of the optimum is still in reach",
  "reach.all": "In reach after this cycle: all of the optimum, {best}.",
  "reach.some": "In reach after this cycle: {left}, of {best}.",
  "reach.between": "In reach after this cycle: between {least} and {left}, of {best}.",
  "reach.pods": { one: "{n} pod", other: "{n} pods" },
  "reach.worth": "{pods} worth {worth}",
  "reach.mark": "Cycle {n} lost the optimum",
  "reach.never": "No cycle lost it.",
  "reach.unknown": "Time ran out before the cycle that lost it was found.",
  "reach.loss": {
    one: "Out of reach after cycle {cycle}: at least {n} of the {of} pods that can be placed",
    other: "Out of reach after cycle {cycle}: at least {n} of the {of} pods that can be placed",
  },
  "reach.more": "Gap to optimum",
  "reach.here": "The optimum from this cycle on",
  "reach.failed": "Could not load what is still in reach.",
} as const;
