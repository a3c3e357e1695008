from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import Formula, PluginGuide, Point

GUIDE = PluginGuide(
    name="ImageLocality",
    purpose=_("Prefers nodes that already have the pod's images."),
    points=(
        Point(
            "Score",
            _("Adds up the sizes of the images the node has, scaled by how many nodes have them."),
        ),
    ),
    reads=("spec.containers[].image", "node.status.images"),
    upstream="plugins/imagelocality",
    weight=1,
    formula=Formula(
        "sum = sum(size * nodes with the image / all nodes), clamped to 23 MiB .. 1000 MiB * "
        "containers\n"
        "score = 100 * (sum - 23 MiB) / (1000 MiB * containers - 23 MiB)",
        _(
            "An image that is on few nodes counts for less, so that pods do not pile up on the "
            "one node that has it."
        ),
    ),
    traps=(
        _("A name without a tag counts as ':latest'."),
        _(
            "Nodes report only a limited number of images, so an image that is not listed may "
            "still be present."
        ),
    ),
)
