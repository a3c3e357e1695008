from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNSCHEDULABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="VolumeRestrictions",
    purpose=_("Keeps two pods from using a volume that only one may use."),
    points=(
        Point("PreFilter", _("Finds claims with the access mode ReadWriteOncePod.")),
        Point("Filter", _("Rejects a node where a conflicting disk or claim is in use.")),
    ),
    reads=("spec.volumes[]", "persistentVolumeClaim.spec.accessModes"),
    upstream="plugins/volumerestrictions",
    reasons=(
        Reason(
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
            "already in-use by another pod",
            UNSCHEDULABLE,
            _("Another pod holds the claim, and its access mode allows only one."),
            _("Delete the other pod, or choose an access mode that allows sharing."),
        ),
        Reason(
            "node(s) had no available disk",
            UNSCHEDULABLE,
            _("A pod on the node mounts the same cloud disk, writable."),
            _("Mount it read-only in both pods, or keep them on different nodes."),
        ),
    ),
    wakes=(
        _("a pod that uses the claim or disk is deleted"),
        _("a claim or a node is added"),
    ),
)
