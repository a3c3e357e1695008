from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import Formula, PluginGuide, Point

GUIDE = PluginGuide(
    name="NodeResourcesBalancedAllocation",
    purpose=_("Prefers nodes on which the pod evens out the use of cpu and memory."),
    points=(
        Point("PreScore", _("Skips if the pod requests none of the resources it balances.")),
        Point("Score", _("Compares how uneven the node would be with and without the pod.")),
    ),
    reads=("spec.containers[].resources.requests", "node.status.allocatable"),
    upstream="plugins/noderesources",
    weight=1,
    formula=Formula(
        "evenness = int((1 - std(fraction of each resource in use)) * 100)\n"
        "score = 50 + (50 + evenness with the pod - evenness without it) / 2",
        _(
            "Fractions are capped at 1. A pod that changes nothing scores 75; one that evens the "
            "node out more, one that tilts it less. For two resources the deviation is half their "
            "difference."
        ),
    ),
    settings=(Point("resources", _("which resources are balanced; cpu and memory by default")),),
    traps=(
        _("It does not ask how full a node is, only how even: a nearly full node can win here."),
    ),
)
