from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNSCHEDULABLE, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="TeachingGang",
    purpose=_("Holds the pods of a gang on Permit until enough of them have a node."),
    points=(
        Point("PostFilter", _("Rejects the whole gang when one of its pods finds no node.")),
        Point(
            "Reserve",
            _("Claims nothing; when a pod loses its place, rejects all of its gang that wait."),
        ),
        Point(
            "Permit",
            _(
                "Lets the pod wait while too few of its gang have a node. The pod that makes them "
                "enough releases all that wait."
            ),
        ),
    ),
    reads=(
        "metadata.labels['pod-group.scheduling.sigs.k8s.io/name']",
        "metadata.labels['pod-group.scheduling.sigs.k8s.io/min-available']",
    ),
    upstream="",
    reasons=(
        Reason(
            "rejected due to timeout after waiting NAME at plugin TeachingGang",
            UNSCHEDULABLE,
            _("Too few pods of the gang had a node when the pod's time was up."),
            _("Make room for the whole gang, or let its pods wait longer."),
        ),
        Reason(
            'gang "NAME" rejected: NAME found no node',
            UNSCHEDULABLE,
            _("Another pod of the gang fits no node, so this one gives up its place."),
            _("Look at why that pod fits no node."),
        ),
        Reason(
            'gang "NAME" rejected: NAME lost its place',
            UNSCHEDULABLE,
            _("Another pod of the gang timed out, was preempted or was deleted while it waited."),
            _("Look at what became of that pod."),
        ),
    ),
    wakes=(
        _("a pod of the gang is bound"),
        _("a pod leaves the cluster"),
        _("a node is added, or its allocatable resources, labels or taints change"),
    ),
    settings=(
        Point("permitWaitingTimeSeconds", _("how long each pod waits; 60 seconds by default")),
    ),
    traps=(
        _(
            "No kube-scheduler has this plugin. The labels are those of the lightweight form of "
            "Coscheduling in kubernetes-sigs/scheduler-plugins; that plugin does more."
        ),
        _(
            "A new pod of the gang wakes none that was rejected: kube-scheduler has no event for "
            "pods without a node unless its gate GangScheduling is on."
        ),
    ),
)
