// English: the sentence that says what a cycle, a point of it, or one plugin did.

export const story = {
  "story.awaited": "Loading the run up to cycle {n}…",
  "story.loading": "Loading the run.",
  "story.reading": "The run has started; its first cycle appears in a moment.",
  "story.paused": "The run is paused before its first cycle. Resume it on the run's page.",
  "story.nothing": "No pod was waiting for a node, so there was nothing to schedule.",
  "story.start": {
    one: "{n} node, {pods} pods. Press play, or the right arrow, to schedule the first pod.",
    other: "{n} nodes, {pods} pods. Press play, or the right arrow, to schedule the first pod.",
  },
  "story.running": "{pod} is being scheduled.",
  "story.nominated": "{pod} is placed on {node}, which was nominated for it.",
  "story.hinted": "{pod} is placed on {node}, the next-best node from an identical pod's cycle.",
  "story.filterNominated": "Filter: {node}, nominated for {pod}, fits; no other node is examined.",
  "story.onlyNode": "{pod} is placed on {node}, the only node that fits.",
  "story.wins": {
    one: "{pod} is placed on {node}: {n} node fits, and it scores {total}, {margin} ahead of {second}.",
    other: "{pod} is placed on {node}: {n} nodes fit, and it scores {total}, {margin} ahead of {second}.",
  },
  "story.tie": "{pod} is placed on {node}: {tied} of the {fit} nodes that fit tie at {total}, and the order decides.",
  "story.drawn": "{pod} is placed on {node}, drawn at random: {tied} of the {fit} nodes that fit tie at {total}.",
  "story.fitsNowhere": {
    one: "{pod} is unschedulable: the only node is rejected.",
    other: "{pod} is unschedulable: all {n} nodes are rejected.",
  },
  "story.fitsNowhereHeld": {
    one: "{pod} is unschedulable: the only node would fit if no room were held for nominated pods.",
    other: "{pod} is unschedulable: {held} of {all} nodes would fit if no room were held for nominated pods.",
  },
  "story.preempts": {
    one: "{pod} is unschedulable for now: preemption evicts {n} pod on {node} to make room.",
    other: "{pod} is unschedulable for now: preemption evicts {n} pods on {node} to make room.",
  },
  "story.preemptsWaiting": {
    one: "{pod} is unschedulable for now: preemption rejects {n} pod on {node} that waits on Permit.",
    other: "{pod} is unschedulable for now: preemption rejects {n} pods on {node} that wait on Permit.",
  },
  "story.preemptsLeaving": "{pod} is unschedulable for now: it waits for the pods that already stop on {node}.",
  "story.preFilterFails": "{pod} is rejected before any node is examined: {reason}",
  "story.error": "{pod} could not be scheduled because of an error: {message}",
  "story.skipped": "{pod} is skipped: it is being deleted, or has a node already.",
  "story.waiting": "{pod} has a place on {node}, but waits on Permit before it is bound.",
  "story.queueSort": "{pod} is first in the queue: priority {priority}, attempt {attempt}.",
  "story.preFilter": {
    one: "PreFilter: {n} plugin looks at {pod} once for all nodes; {skipped} have nothing to check.",
    other: "PreFilter: {n} plugins look at {pod} once for all nodes; {skipped} have nothing to check.",
  },
  "story.preFilterNarrows": {
    one: "PreFilter leaves {n} node to examine.",
    other: "PreFilter leaves {n} nodes to examine.",
  },
  "story.filter": "Filter: {fit} of the {examined} examined can take {pod}.",
  "story.filterHeld":
    "Filter: {fit} of the {examined} examined can take {pod}; {held} more would if no room were held for " +
    "nominated pods.",
  "story.filterSamples":
    "Filter: {fit} nodes can take {pod}; enough were found after {examined} of {all} nodes, so the search stops.",
  "story.postFilter": {
    one: "PostFilter: {pod} fits on {node} once {n} pod there gives way.",
    other: "PostFilter: {pod} fits on {node} once {n} pods there give way.",
  },
  "story.postFilterFails": "PostFilter: no eviction can make room for {pod}.",
  "story.preScore": {
    one: "PreScore: {n} plugin prepares; {skipped} will not score.",
    other: "PreScore: {n} plugins prepare; {skipped} will not score.",
  },
  "story.score": {
    one: "Score: {n} node is scored; {node} comes first.",
    other: "Score: {n} nodes are scored; {node} comes first.",
  },
  "story.scoreSkipped": "Score is skipped: {node} is the only node that fits.",
  "story.reserve": "Reserve: {pod} is assumed on {node}, so the next pod already sees that room taken.",
  "story.permit": "Permit: no plugin rejects {pod} on {node}.",
  "story.permitWaits": "Permit: {pod} keeps its place on {node} and waits for permission.",
  "story.preBind": "PreBind: everything {pod} needs on {node} is made ready.",
  "story.bind": "Bind: {pod} is bound to {node}.",
  "story.postBind": "PostBind: {pod} is bound to {node}; plugins clean up.",
  "story.pointFails": "{point} refuses {pod} on {node}: {reason}",
  "story.pluginSkips": "{plugin} has nothing to check for {pod}; it takes no part.",
  "story.pluginUnevaluated": "{plugin} is not evaluated: an earlier plugin had already decided.",
  "story.pluginRejects": {
    one: "{plugin} rejects {n} node of the {evaluated} it evaluates.",
    other: "{plugin} rejects {n} nodes of the {evaluated} it evaluates.",
  },
  "story.pluginAccepts": {
    one: "{plugin} accepts the one node it evaluates.",
    other: "{plugin} accepts all {n} nodes it evaluates.",
  },
  "story.pluginScores": {
    one: "{plugin} scores {n} node, with weight {weight}.",
    other: "{plugin} scores {n} nodes, with weight {weight}.",
  },
  "story.pluginFails": "{plugin} rejects {pod}: {reason}",
  "story.pluginNominates": {
    one: "{plugin} nominates {node} for {pod}; {n} pod there gives way.",
    other: "{plugin} nominates {node} for {pod}; {n} pods there give way.",
  },
  "story.pluginNoRoom": "{plugin} cannot make room for {pod}.",
  "story.pluginPasses": "{plugin} passes at {point}.",
  "story.pluginWaits": "{plugin} holds {pod} on Permit: its place on {node} stays reserved.",
} as const;
