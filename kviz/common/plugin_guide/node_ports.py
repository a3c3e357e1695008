from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNSCHEDULABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="NodePorts",
    purpose=_("Makes sure that a host port the pod requests is free on the node."),
    points=(
        Point("PreFilter", _("Skips if the pod requests no host port.")),
        Point("Filter", _("Rejects a node on which another pod holds the same host port.")),
    ),
    reads=("spec.containers[].ports[].hostPort", "hostIP", "protocol"),
    upstream="plugins/nodeports",
    reasons=(
        Reason(
            "node(s) didn't have free ports for the requested pod ports",
            UNSCHEDULABLE,
            _("A pod on each of these nodes already uses the port."),
            _("Use a Service instead of a host port, or have at most one such pod per node."),
        ),
    ),
    wakes=(_("a pod that holds one of the ports is deleted"), _("a node is added")),
    traps=(_("Ports conflict per protocol and host IP; 0.0.0.0 conflicts with every address."),),
)
