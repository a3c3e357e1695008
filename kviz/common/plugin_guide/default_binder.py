from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import PluginGuide, Point

GUIDE = PluginGuide(
    name="DefaultBinder",
    purpose=_("Writes the decision to the API server."),
    points=(Point("Bind", _("Creates the Binding object that sets the pod's node.")),),
    reads=(),
    upstream="plugins/defaultbinder",
    traps=(
        _(
            "Binding runs beside the next scheduling cycle. Until it is done, the pod is only "
            "assumed to be on the node."
        ),
    ),
)
