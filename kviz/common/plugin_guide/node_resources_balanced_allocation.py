from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import Formula, PluginGuide, Point

GUIDE = PluginGuide(
    name="NodeResourcesBalancedAllocation",
    purpose=_("Prefers nodes on which the pod balances the use of cpu and memory."),
    points=(
        Point("PreScore", _("Skips if the pod requests none of the resources it balances.")),
        Point("Score", _("Compares how unbalanced the node is with and without the pod.")),
    ),
    reads=("spec.containers[].resources.requests", "node.status.allocatable"),
    upstream="plugins/noderesources",
    weight=1,
    formula=Formula(
        "evenness = int((1 - std(fraction of each resource in use)) * 100)\n"
        "score = 50 + (50 + evenness with the pod - evenness without it) / 2",
        _(
            "Fractions are capped at 1. A pod that changes nothing scores 75; one that makes "
            "the node more balanced scores more, otherwise less. For two resources the "
            "deviation is half their difference."
        ),
    ),
    settings=(Point("resources", _("which resources are balanced; cpu and memory by default")),),
    traps=(
        _("It rates how balanced a node is, not how full: a nearly full node can score highest."),
    ),
)
