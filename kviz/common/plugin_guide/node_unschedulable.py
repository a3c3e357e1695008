from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNRESOLVABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="NodeUnschedulable",
    purpose=_("Keeps new pods off cordoned nodes."),
    points=(
        Point(
            "Filter",
            _(
                "Rejects a node marked unschedulable unless the pod tolerates the taint "
                "node.kubernetes.io/unschedulable:NoSchedule."
            ),
        ),
    ),
    reads=("node.spec.unschedulable", "spec.tolerations"),
    upstream="plugins/nodeunschedulable",
    reasons=(
        Reason(
            "node(s) were unschedulable",
            UNRESOLVABLE,
            _("Someone, or a drain in progress, cordoned these nodes."),
            _("kubectl uncordon NODE, once the maintenance is over."),
        ),
    ),
    wakes=(
        _("a node is added or uncordoned"),
        _("the pod gains a toleration for the unschedulable taint"),
    ),
    traps=(
        _(
            "This plugin comes before TaintToleration, so a cordoned node is counted here even "
            "though it also carries a taint."
        ),
    ),
)
