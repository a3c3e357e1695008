from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Formula,
    PluginGuide,
    Point,
    Reason,
)

GUIDE = PluginGuide(
    name="NodeResourcesFit",
    purpose=_(
        "Checks that the node has room for what the pod requests, and prefers nodes with "
        "more of it left."
    ),
    points=(
        Point("PreFilter", _("Adds up the pod's requests once for all nodes.")),
        Point("Filter", _("Rejects a node with less free than requested of any resource.")),
        Point("PreScore", _("Adds up the requests as scoring counts them.")),
        Point("Score", _("Applies the scoring strategy; LeastAllocated unless configured.")),
    ),
    reads=(
        "spec.containers[].resources.requests",
        "spec.initContainers[]",
        "spec.overhead",
        "spec.resources",
        "node.status.allocatable",
    ),
    upstream="plugins/noderesources",
    weight=1,
    formula=Formula(
        "LeastAllocated, for cpu and memory:\n"
        "per resource = 100 * (allocatable - requested) / allocatable\n"
        "score = sum(per resource * weight) / sum(weight)",
        _(
            "Requested includes the incoming pod. Every division drops the remainder. "
            "MostAllocated uses requested / allocatable, RequestedToCapacityRatio a configured "
            "curve."
        ),
    ),
    reasons=(
        Reason(
            "Insufficient RESOURCE",
            UNSCHEDULABLE,
            _("The other pods on the node leave too little of it."),
            _("Add a node, lower the request, or let a higher priority preempt."),
        ),
        Reason(
            "Insufficient RESOURCE",
            UNRESOLVABLE,
            _("The request exceeds what the node could give if it were empty."),
            _("Only a larger node or a smaller request helps; preemption cannot."),
        ),
        Reason(
            "Too many pods",
            UNSCHEDULABLE,
            _("The node runs as many pods as it allows."),
            _("Raise maxPods of the kubelet, or add a node."),
        ),
    ),
    wakes=(
        _("a pod is deleted, or lowers its requests, and that frees a resource which was short"),
        _("a node is added, or its allocatable grows, so that the pod fits"),
    ),
    settings=(
        Point(
            "scoringStrategy.type", _("LeastAllocated, MostAllocated or RequestedToCapacityRatio")
        ),
        Point("scoringStrategy.resources", _("which resources count, and how much")),
        Point("ignoredResources", _("extended resources the Filter does not check")),
    ),
    traps=(
        _("Only requests count. The scheduler does not see actual usage."),
        _(
            "For scoring, a container without a request counts as 100 millicores and 200 MiB, "
            "so that empty pods do not all pile up on one node. Filter counts it as 0."
        ),
        _(
            "One node can be short of two resources and is then counted under both, so the numbers "
            "in the message may add up to more than the number of nodes."
        ),
    ),
)
