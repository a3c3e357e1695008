from django.utils.translation import gettext_lazy as _

from kviz.common.plugin_guide.guide import UNRESOLVABLE, Formula, PluginGuide, Point, Reason

GUIDE = PluginGuide(
    name="NodeAffinity",
    purpose=_("Matches the pod's node selector and node affinity against node labels."),
    points=(
        Point(
            "PreFilter",
            _(
                "Skips if the pod has neither. If every term pins metadata.name, narrows the "
                "search to those nodes before Filter."
            ),
        ),
        Point("Filter", _("Rejects nodes that match neither the selector nor any required term.")),
        Point("PreScore", _("Skips if there are no preferred terms.")),
        Point("Score", _("Adds up the weights of the preferred terms the node matches.")),
        Point("NormalizeScore", _("Scales the best node to 100.")),
    ),
    reads=(
        "spec.nodeSelector",
        "spec.affinity.nodeAffinity",
        "node.metadata.labels",
        "node.metadata.name",
    ),
    upstream="plugins/nodeaffinity",
    weight=2,
    formula=Formula(
        "raw = sum(weight of each preferred term the node matches)\n"
        "score = 100 * raw / max(raw)        (0 if max(raw) is 0)\n"
        "weighted = 2 * score",
        _("The weights of the terms are 1 to 100 and matter only in relation to each other."),
    ),
    reasons=(
        Reason(
            "node(s) didn't match Pod's node affinity/selector",
            UNRESOLVABLE,
            _("No label of these nodes satisfies what the pod requires."),
            _(
                "Label a node, or loosen the pod's requirement. Check spelling first: keys and "
                "values must match exactly."
            ),
        ),
        Reason(
            "node(s) didn't match scheduler-enforced node affinity",
            UNRESOLVABLE,
            _("The scheduler's own configuration adds an affinity to every pod of this profile."),
            _("Look at addedAffinity in the plugin's arguments."),
        ),
        Reason(
            "pod affinity terms conflict",
            UNRESOLVABLE,
            _("One term requires two different node names, which no node can satisfy."),
            _(
                "Put the names into separate terms: terms are alternatives, requirements inside "
                "one are not."
            ),
        ),
        Reason(
            "node(s) didn't satisfy plugin(s) [NodeAffinity]",
            UNRESOLVABLE,
            _("PreFilter narrowed the search to named nodes, and these are not among them."),
            _("Make sure that the named node exists."),
        ),
    ),
    wakes=(_("a node is added, or its labels change, so that it matches"),),
    settings=(
        Point("addedAffinity", _("node affinity that is added to every pod of the profile")),
    ),
    traps=(
        _(
            "Terms are alternatives (any may match); the expressions inside one term must all "
            "match."
        ),
        _("The node selector and the affinity must both be satisfied."),
    ),
)
