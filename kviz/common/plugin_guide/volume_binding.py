from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNRESOLVABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="VolumeBinding",
    purpose=_("Finds nodes that can reach the pod's volumes, and binds claims."),
    points=(
        Point(
            "PreFilter",
            _("Looks up the claims; fails at once if one is missing or should have been bound."),
        ),
        Point(
            "Filter",
            _(
                "Checks the node affinity of bound volumes, and looks for volumes or storage "
                "for the rest."
            ),
        ),
        Point("PreScore", _("Skips, unless that feature is on and a claim is still to be bound.")),
        Point(
            "Score",
            _("Compares how full the volumes would be; needs a feature that is off by default."),
        ),
        Point("Reserve", _("Reserves the volumes found on the chosen node.")),
        Point("PreBind", _("Writes the bindings and waits until they are done.")),
    ),
    reads=(
        "spec.volumes[].persistentVolumeClaim",
        "persistentVolume.spec.nodeAffinity",
        "storageClass.volumeBindingMode",
        "csiStorageCapacity",
    ),
    upstream="plugins/volumebinding",
    weight=1,
    reasons=(
        Reason(
            'persistentvolumeclaim "NAME" not found',
            UNRESOLVABLE,
            _("The pod names a claim that does not exist in its namespace."),
            _("Create the claim, or correct the name."),
        ),
        Reason(
            "pod has unbound immediate PersistentVolumeClaims",
            UNRESOLVABLE,
            _("A claim of a class with immediate binding is still waiting for its volume."),
            _("Look at the claim's events: the provisioner has not provisioned it yet."),
        ),
        Reason(
            "node(s) didn't find available persistent volumes to bind",
            UNRESOLVABLE,
            _(
                "No existing volume fits the claim on these nodes, and none can be provisioned "
                "there."
            ),
            _("Add a volume, or a storage class that provisions on these nodes."),
        ),
        Reason(
            "node(s) didn't match PersistentVolume's node affinity",
            UNRESOLVABLE,
            _("The claim is bound to a volume that only other nodes can reach."),
            _("The pod must run where its data is: free room there, or move the data."),
        ),
        Reason(
            "node(s) did not have enough free storage",
            UNRESOLVABLE,
            _("The storage reports too little capacity for these nodes."),
            _("Request less, or extend the storage."),
        ),
    ),
    wakes=(
        _("a claim, a volume or a storage class is added or changed"),
        _("a node is added or relabelled"),
        _("a CSI driver, its node information or its capacity changes"),
    ),
    settings=(Point("bindTimeoutSeconds", _("how long PreBind waits; 600 seconds by default")),),
    traps=(
        _(
            "When PreFilter fails here no node was evaluated, so the message counts none and "
            "ends in 'not found', and there is no preemption."
        ),
    ),
)
