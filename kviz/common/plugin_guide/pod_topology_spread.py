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
    name="PodTopologySpread",
    purpose=_("Spreads matching pods evenly over zones, nodes or any other label."),
    points=(
        Point("PreFilter", _("Counts the matching pods in every domain.")),
        Point(
            "Filter", _("Rejects a node if the pod would make its domain too full (DoNotSchedule).")
        ),
        Point("PreScore", _("Counts again for the constraints that are only preferences.")),
        Point("Score", _("Adds up the counts of the node's domains (ScheduleAnyway).")),
        Point("NormalizeScore", _("Inverts the sum: emptier domains score more.")),
    ),
    reads=("spec.topologySpreadConstraints", "node.metadata.labels", "pods' labels"),
    upstream="plugins/podtopologyspread",
    weight=2,
    formula=Formula(
        "Filter:  matching in domain + 1 - fewest in any domain <= maxSkew\n"
        "raw = round(sum(count * ln(number of domains + 2) + maxSkew - 1))\n"
        "score = 100 * (max + min - raw) / max        (100 if max is 0)\n"
        "weighted = 2 * score",
        _(
            "The 1 counts only if the pod matches its own selector. The logarithm balances "
            "topologies with many domains against those with few."
        ),
    ),
    reasons=(
        Reason(
            "node(s) didn't match pod topology spread constraints",
            UNSCHEDULABLE,
            _("Placing the pod there would make the difference between domains too large."),
            _("Make room in the emptiest domain, raise maxSkew, or prefer instead of require."),
        ),
        Reason(
            "node(s) didn't match pod topology spread constraints (missing required label)",
            UNRESOLVABLE,
            _("These nodes lack the label the constraint spreads over."),
            _("Label the nodes, or correct the topology key."),
        ),
    ),
    wakes=(
        _("a matching pod is added, deleted or relabelled"),
        _("a node is added, deleted or relabelled, or its taints change"),
    ),
    settings=(
        Point(
            "defaultingType",
            _("System: soft spreading by host and zone for pods of a Service or controller"),
        ),
        Point("defaultConstraints", _("constraints for pods that have none of their own")),
    ),
    traps=(
        _("A domain without room still counts as the emptiest one, and blocks the others."),
        _(
            "Tainted nodes count by default; nodeTaintsPolicy: Honor leaves out those the pod "
            "cannot use."
        ),
        _("Spreading is checked only when a pod is scheduled; running pods are not moved."),
    ),
)
