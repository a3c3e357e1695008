// English: one sentence for each term that needs one.

export const glosses = {
  "plugin.SchedulingGates": "Holds a pod back while spec.schedulingGates is not empty.",
  "plugin.PrioritySort": "Orders the queue by priority, then by time of arrival.",
  "plugin.NodeUnschedulable": "Rejects cordoned nodes, unless the pod tolerates that.",
  "plugin.NodeName": "If the pod names a node, rejects all others.",
  "plugin.TaintToleration":
    "Rejects nodes with taints the pod does not tolerate; prefers nodes with fewer soft taints.",
  "plugin.NodeAffinity": "Checks the node selector and required node affinity; rates preferred affinity.",
  "plugin.NodePorts": "Rejects nodes on which a host port of the pod is taken.",
  "plugin.NodeResourcesFit": "Rejects nodes without room for what the pod requests; rates how much room is left.",
  "plugin.VolumeRestrictions": "Checks rules about volumes used by more than one pod.",
  "plugin.NodeVolumeLimits": "Rejects nodes that cannot attach more volumes of the driver.",
  "plugin.VolumeBinding": "Checks that the pod's claims can be bound on the node.",
  "plugin.VolumeZone": "Rejects nodes outside the zone of the pod's volumes.",
  "plugin.PodTopologySpread": "Keeps similar pods spread evenly over zones, nodes or other domains.",
  "plugin.InterPodAffinity": "Checks which other pods this one wants, or must not have, near it.",
  "plugin.DynamicResources": "Checks that the devices the pod claims can be given to it on the node.",
  "plugin.DefaultPreemption": "Looks for pods of lower priority whose eviction would make room.",
  "plugin.NodeResourcesBalancedAllocation": "Prefers nodes where cpu and memory stay equally full.",
  "plugin.ImageLocality": "Prefers nodes that have the pod's images already.",
  "plugin.DefaultBinder": "Writes the binding of pod and node to the API server.",
  "plugin.Extender": "Services outside the scheduler that are called after its plugins.",
  "plugin.NodeDeclaredFeatures": "Rejects nodes that lack a feature the pod needs.",

  "formula.TaintToleration": "Counts untolerated PreferNoSchedule taints; fewer is better, none is 100.",
  "formula.NodeAffinity": "Adds the weights of the preferred terms that match; the best node becomes 100.",
  "formula.NodeResourcesFit":
    "LeastAllocated: 100 × (allocatable − requested) ÷ allocatable, averaged over the resources.",
  "formula.NodeResourcesBalancedAllocation": "50 + half of how much the pod evens out the fill of cpu and memory.",
  "formula.PodTopologySpread": "Counts similar pods in the node's domains; fewer is better.",
  "formula.InterPodAffinity":
    "Adds the weights of preferred affinity, takes off those of anti-affinity, and stretches to 0-100.",
  "formula.ImageLocality": "The size of the images already on the node, more for images found on many nodes.",

  "tab.why.gloss": "Why the pod is where it is, and what happens next",
  "tab.filter.gloss": "Every node, and what each Filter plugin decided",
  "tab.score.gloss": "How the node was chosen",
  "tab.preempt.gloss": "Which pods would be evicted",
  "tab.picture.gloss": "The two cycles, the queue and the cache, lit where the pod is",
  "tab.devices.gloss": "Which device went to whom, and why each other was refused",
  "tab.cache.gloss": "What the scheduler knows of a node",
  "tab.state.gloss": "CycleState: what the cycle prepared and knew",
  "tab.log.gloss": "Events, and everything that happened",

  "score.difference.gloss": "How much this plugin puts the node ahead of {node}.",

  "criterion.pdbViolations": "budgets broken",
  "criterion.highestPriority": "highest priority evicted",
  "criterion.sumPriorities": "sum of priorities",
  "criterion.numVictims": "pods evicted",
  "criterion.latestStartTime": "latest start",
  "criterion.pdbViolations.gloss": "Victims protected by a disruption budget; fewer is better.",
  "criterion.highestPriority.gloss": "The most important pod that would go; lower is better.",
  "criterion.sumPriorities.gloss": "Priorities of all victims, with 2³¹ added for each; less is better.",
  "criterion.numVictims.gloss": "Fewer is better.",
  "criterion.latestStartTime.gloss": "When the longest-running of the most important victims started; later is better.",
} as const;
