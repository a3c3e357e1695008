from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNRESOLVABLE, Formula, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="DynamicResources",
    purpose=_("Allocates devices that pods request through resource claims."),
    points=(
        Point("PreEnqueue", _("Holds the pod until all its claims exist and are its own.")),
        Point(
            "PreFilter",
            _(
                "Collects the pod's claims, and makes one up for extended resources that a class "
                "backs. Skips if there are none; rejects the pod if a class does not exist."
            ),
        ),
        Point(
            "Filter",
            _(
                "Looks for devices for the claims that have none, on each node in turn, and takes "
                "the first complete solution. Rejects nodes that allocated claims cannot be used "
                "on."
            ),
        ),
        Point(
            "PostFilter",
            _(
                "Deallocates a claim that a node could not use and nobody else uses; runs before "
                "preemption."
            ),
        ),
        Point("Score", _("Prefers nodes where earlier alternatives of prioritised lists are had.")),
        Point("Reserve", _("Keeps the chosen devices from other pods.")),
        Point("PreBind", _("Writes the allocation and the pod as a user into each claim.")),
    ),
    reads=("spec.resourceClaims", "resourceClaim", "resourceSlice", "deviceClass"),
    upstream="plugins/dynamicresources",
    weight=2,
    formula=Formula(
        "raw = sum over chosen alternatives of (8 - position in the list)\n"
        "score = 100 * raw / max(raw)        (0 if max(raw) is 0)",
        _("Only prioritised lists (firstAvailable) score; other claims leave all nodes at 0."),
    ),
    reasons=(
        Reason(
            "cannot allocate all claims",
            UNRESOLVABLE,
            _(
                "The free devices of these nodes do not satisfy every claim of the pod. Evicting "
                "pods does not free devices: a claim keeps them until its last user is gone."
            ),
            _("Add devices, ask for less, or free a claim."),
        ),
        Reason(
            "resourceclaim not available on the node",
            UNRESOLVABLE,
            _("A claim of the pod has its devices already, and they are on other nodes."),
            _("Let the pod run there, or let the claim be deallocated when its users end."),
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
