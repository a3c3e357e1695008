from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import PluginGuide, Point

GUIDE = PluginGuide(
    name="PrioritySort",
    purpose=_("Decides which waiting pod is scheduled next."),
    points=(
        Point(
            "QueueSort",
            _(
                "Orders the active queue: higher priority first; among equals, the pod that "
                "entered the queue earlier."
            ),
        ),
    ),
    reads=("spec.priority",),
    upstream="plugins/queuesort",
    traps=(
        _(
            "The second key is the time the pod entered the queue, not its creation time: a pod "
            "that returns from backoff is placed behind its equals."
        ),
        _("All profiles of one scheduler share one queue, so they must agree on this plugin."),
    ),
)
