from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNSCHEDULABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="DynamicResources",
    purpose=_("Allocates devices that pods request through resource claims."),
    points=(
        Point("PreEnqueue", _("Waits until the claims of the pod exist.")),
        Point("PreFilter", _("Skips if the pod refers to no claim.")),
        Point("Filter", _("Rejects nodes whose devices cannot satisfy the claims.")),
        Point("PostFilter", _("Deallocates a claim that blocks the pod; runs before preemption.")),
        Point("Score", _("Prefers better allocations.")),
        Point("Reserve", _("Records the allocation for the chosen node.")),
        Point("PreBind", _("Writes the allocation into the claim.")),
    ),
    reads=("spec.resourceClaims", "resourceSlice", "deviceClass"),
    upstream="plugins/dynamicresources",
    weight=2,
    reasons=(
        Reason(
            "cannot allocate all claims",
            UNSCHEDULABLE,
            _("The free devices of these nodes do not satisfy every claim of the pod."),
            _("Add devices, or request fewer."),
        ),
    ),
    wakes=(
        _("a claim, a device class or a resource slice is added or changed"),
        _("a node is added or relabelled, or its allocatable changes"),
    ),
    traps=(
        _(
            "It is on even when nothing claims a device. Its PostFilter then reports that it "
            "has nothing to do: that is where 'no new claims to deallocate' in failed "
            "preemptions comes from."
        ),
    ),
)
