from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNRESOLVABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="VolumeZone",
    purpose=_("Keeps a pod in the zone of its bound volumes."),
    points=(
        Point("PreFilter", _("Collects the zone labels of the pod's bound volumes.")),
        Point("Filter", _("Rejects nodes in other zones.")),
    ),
    reads=("persistentVolume.metadata.labels", "node.metadata.labels"),
    upstream="plugins/volumezone",
    reasons=(
        Reason(
            "node(s) had no available volume zone",
            UNRESOLVABLE,
            _("The pod's volume is in a zone these nodes are not in."),
            _("Free room in the volume's zone, or restore the data in another."),
        ),
    ),
    wakes=(
        _("a claim, a volume or a storage class is added or changed"),
        _("a node is added or relabelled"),
    ),
    traps=(
        _(
            "It reads labels of the volume; newer drivers use node affinity, which "
            "VolumeBinding checks."
        ),
    ),
)
