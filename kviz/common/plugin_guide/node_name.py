from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNRESOLVABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="NodeName",
    purpose=_("Matches the node name that a pod specifies."),
    points=(
        Point("Filter", _("Rejects every node except the one the pod names, if it names one.")),
    ),
    reads=("spec.nodeName",),
    upstream="plugins/nodename",
    reasons=(
        Reason(
            "node(s) didn't match the requested node name",
            UNRESOLVABLE,
            _("The pod specifies one node by name, and these are others."),
            _("Use node affinity instead, or correct the name."),
        ),
    ),
    wakes=(_("a node is added"),),
    traps=(
        _(
            "A pod with spec.nodeName set never reaches the scheduler in practice: it counts as "
            "bound already. That is why kviz reports pods bound to nodes that do not exist."
        ),
    ),
)
