from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNSCHEDULABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="NodeVolumeLimits",
    purpose=_("Respects how many volumes of each CSI driver a node can attach."),
    points=(
        Point("PreFilter", _("Skips if the pod has no volume that a CSI driver attaches.")),
        Point("Filter", _("Rejects a node on which the pod's new volumes would exceed the limit.")),
    ),
    reads=("csiNode.spec.drivers[].allocatable.count", "spec.volumes[]", "volumeAttachment"),
    upstream="plugins/nodevolumelimits",
    reasons=(
        Reason(
            "node(s) exceed max volume count",
            UNSCHEDULABLE,
            _("The driver can attach no further volume to these nodes."),
            _("Delete or move a pod with a volume of that driver, or add a node."),
        ),
    ),
    wakes=(
        _("a CSINode is added, or reports a higher limit"),
        _("a pod with such a volume is deleted, or a volume is detached"),
        _("a claim the pod uses is added"),
    ),
    traps=(_("A volume several pods of one node share counts once."),),
)
