from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNRESOLVABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="NodeDeclaredFeatures",
    purpose=_("Keeps pods that need a kubelet feature off nodes that do not declare it."),
    points=(
        Point("PreFilter", _("Infers from the pod which features it needs; skips if none.")),
        Point("Filter", _("Rejects nodes that do not declare all of them.")),
    ),
    reads=("node.status.declaredFeatures", "spec"),
    upstream="plugins/nodedeclaredfeatures",
    reasons=(
        Reason(
            "node(s) didn't match Pod's required features",
            UNRESOLVABLE,
            _("The kubelets of these nodes are too old, or the feature is disabled there."),
            _("Upgrade the nodes, or do without the feature."),
        ),
    ),
    wakes=(_("a node is added or declares more features"), _("the pod changes")),
)
