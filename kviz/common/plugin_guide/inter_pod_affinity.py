from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Formula,
    PluginGuide,
    Point,
    Reason,
)

GUIDE = PluginGuide(
    name="InterPodAffinity",
    purpose=_("Places pods near to or far from other pods."),
    points=(
        Point("PreFilter", _("Counts, per domain, the pods that match each term, both ways.")),
        Point(
            "Filter", _("Rejects nodes that break a required term of this pod or of a running one.")
        ),
        Point("PreScore", _("Collects preferred terms, also those of pods already running.")),
        Point("Score", _("Adds up the weights for and against the node's domain.")),
        Point("NormalizeScore", _("Scales the sums from 0 for the worst to 100 for the best.")),
    ),
    reads=(
        "spec.affinity.podAffinity",
        "spec.affinity.podAntiAffinity",
        "pods' labels",
        "namespace labels",
    ),
    upstream="plugins/interpodaffinity",
    weight=2,
    formula=Formula(
        "raw = sum(+weight of matching preferred affinity, -weight of anti-affinity)\n"
        "score = 100 * (raw - min) / (max - min)        (0 if all are equal)\n"
        "weighted = 2 * score",
        _(
            "Required affinity of running pods adds hardPodAffinityWeight when it matches the "
            "incoming pod."
        ),
    ),
    reasons=(
        Reason(
            "node(s) didn't match pod affinity rules",
            UNRESOLVABLE,
            _("No pod that matches its affinity runs in these nodes' domains."),
            _("Start the other pod first, or prefer instead of require."),
        ),
        Reason(
            "node(s) didn't match pod anti-affinity rules",
            UNSCHEDULABLE,
            _("A pod that matches its anti-affinity runs in these nodes' domains."),
            _("Add a domain (often: a node), or widen the rule."),
        ),
        Reason(
            "node(s) didn't satisfy existing pods anti-affinity rules",
            UNSCHEDULABLE,
            _("The anti-affinity of a pod running there matches this one."),
            _("The rule is on the other pod; kviz names it."),
        ),
    ),
    wakes=(
        _("a pod that matches one of the terms is added, deleted or relabelled"),
        _("a node is added or relabelled"),
    ),
    settings=(
        Point(
            "hardPodAffinityWeight",
            _("the weight of a running pod's required affinity in scoring; 1 by default"),
        ),
    ),
    traps=(
        _(
            "The first pod of a group that requires itself is allowed anywhere: otherwise it "
            "could never start."
        ),
        _("Anti-affinity works both ways, even if only one of the two pods declares it."),
    ),
)
