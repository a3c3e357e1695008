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
    name="DefaultPreemption",
    purpose=_("When no node is feasible, looks for pods of lower priority to evict."),
    points=(
        Point(
            "PostFilter",
            _(
                "Dry-runs every node with status Unschedulable: remove all pods of lower "
                "priority, then put back as many as possible, those under a disruption budget "
                "first. Picks one node, evicts its victims and nominates the node for the pod."
            ),
        ),
        Point(
            "PreEnqueue",
            _("Keeps the pod out of the active queue while its victims are being deleted."),
        ),
    ),
    reads=(
        "spec.priority",
        "spec.preemptionPolicy",
        "podDisruptionBudget.status.disruptionsAllowed",
        "status.startTime",
    ),
    upstream="plugins/defaultpreemption",
    formula=Formula(
        "keep the candidates with, one after the other,\n"
        "1. the fewest disruption budgets broken\n"
        "2. the lowest priority of their most important victim\n"
        "3. the smallest sum of victim priorities\n"
        "4. the fewest victims\n"
        "5. the latest start of their most important victims",
        _(
            "The scheduler takes any of those still tied; kviz takes the first in node order "
            "and reports it."
        ),
    ),
    reasons=(
        Reason(
            "Preemption is not helpful for scheduling",
            UNRESOLVABLE,
            _("These nodes would reject the pod even if they were empty."),
            _("Change what Filter rejected them for: labels, taints, size."),
        ),
        Reason(
            "No preemption victims found for incoming pod",
            UNRESOLVABLE,
            _("No pod on these nodes has a lower priority."),
            _("Raise the pod's priority, or make room in another way."),
        ),
        Reason(
            "not eligible due to preemptionPolicy=Never.",
            UNSCHEDULABLE,
            _(
                "The pod's priority class puts it at the front of the queue, but does not let it "
                "preempt."
            ),
            _("Use a class that may preempt."),
        ),
        Reason(
            "not eligible due to a terminating pod on the nominated node.",
            UNSCHEDULABLE,
            _(
                "Its victims are still shutting down; it will be attempted again when they are "
                "gone."
            ),
            _("Wait for the grace period to end."),
        ),
    ),
    wakes=(_("the last victim is gone"),),
    settings=(
        Point(
            "minCandidateNodesPercentage",
            _("what share of the nodes to dry-run; 10 percent by default"),
        ),
        Point("minCandidateNodesAbsolute", _("but at least this many nodes; 100 by default")),
    ),
    traps=(
        _(
            "Budgets are respected if possible, not guaranteed: if there is no other way they "
            "are violated."
        ),
        _(
            "The nomination reserves nothing from pods of higher priority, and the pod may be "
            "scheduled elsewhere."
        ),
    ),
)
