from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNRESOLVABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="SchedulingGates",
    purpose=_("Keeps a pod out of the active queue until every one of its gates has been removed."),
    points=(Point("PreEnqueue", _("Rejects the pod while any gate is left.")),),
    reads=("spec.schedulingGates",),
    upstream="plugins/schedulinggates",
    reasons=(
        Reason(
            "waiting for scheduling gates: [NAME ...]",
            UNRESOLVABLE,
            _("A controller outside the scheduler has not removed its gate yet."),
            _("The controller that set the gate must remove it; adding nodes changes nothing."),
        ),
    ),
    wakes=(_("the last scheduling gate of the pod is removed"),),
    traps=(
        _(
            "A gated pod was never attempted: it has no FailedScheduling event, and its "
            "condition says SchedulingGated instead of Unschedulable."
        ),
    ),
)
