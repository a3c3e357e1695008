from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNRESOLVABLE, Formula, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="TaintToleration",
    purpose=_(
        "Keeps pods off tainted nodes they do not tolerate, and prefers nodes with fewer soft "
        "taints."
    ),
    points=(
        Point(
            "Filter",
            _("Rejects a node with a NoSchedule or NoExecute taint that no toleration matches."),
        ),
        Point("PreScore", _("Collects the pod's tolerations that apply to PreferNoSchedule.")),
        Point("Score", _("Counts the node's PreferNoSchedule taints that are not tolerated.")),
        Point("NormalizeScore", _("Inverts the count: the fewest such taints get 100.")),
    ),
    reads=("node.spec.taints", "spec.tolerations"),
    upstream="plugins/tainttoleration",
    weight=3,
    formula=Formula(
        "raw = number of untolerated PreferNoSchedule taints\n"
        "score = 100 - 100 * raw / max(raw)        (100 if max(raw) is 0)\n"
        "weighted = 3 * score",
        _("One unwanted soft taint can cost up to 300 points, more than any other default plugin."),
    ),
    reasons=(
        Reason(
            "node(s) had untolerated taint(s)",
            UNRESOLVABLE,
            _(
                "Each of these nodes has a hard taint the pod does not tolerate. Since v1.36 "
                "the message no longer names it."
            ),
            _(
                "Add the toleration if the pod belongs there, or remove the taint. The Explorer "
                "shows the taints of each node."
            ),
        ),
    ),
    wakes=(
        _("a node is added, or its taints change, so that the pod tolerates them all"),
        _("the pod gains a toleration"),
    ),
    traps=(
        _(
            "A toleration permits a node, it does not attract the pod to it. Combine it with "
            "node affinity."
        ),
        _("The operator Exists with no key tolerates everything, cordoned nodes included."),
        _("Only the first untolerated taint of a node is reported."),
    ),
)
