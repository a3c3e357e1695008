"""Bugs of kube-scheduler that decide verdicts: what happens, and what to write instead.

kviz does as the release does, where that is `modelled`; the others are named where a cluster leads
into one (`sim/not_modelled.py`). Which bugs a release has stands in its table.
`analysis/advice/bugs.py` finds those that decide what became of a pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from scheduler_core.wording import say

BugName: TypeAlias = Literal[
    "refused_devices",
    "neighbours_distinct",
    "namespaces_without_labels",
    "budgets_used_up",
    "empty_spread_selector",
    "no_spread_selector",
    "empty_budget_selector",
    "equals_keep_daemon",
    "daemon_evicted",
    "extender_empties_nodes",
    "extender_without_victims",
    "admin_counters",
    "all_of_incomplete_pool",
    "classes_of_one_resource",
    "shares_charged_again",
    "panic_balanced",
    "panic_capacity",
]


class Bug(Struct, frozen=True, kw_only=True):
    """One bug.

    `upstream` is the number of its issue, or of the change that mends it, as in `#141339`; empty
    where none is known. `by_design`: preemption is meant to do so, and the issue, not yet accepted
    upstream, asks for something else. `mended_by` names the switch of the releases that have it
    mended.
    """

    upstream: str = ""
    happens: str
    instead: str
    modelled: bool = True
    by_design: bool = False
    mended_by: str = ""


BUGS: Final[Mapping[BugName, Bug]] = {
    "refused_devices": Bug(
        upstream="#140436",
        happens=say(
            "bug.refused_devices",
            "kube-scheduler up to 1.36.2 keeps the counters of a refused device, so that others "
            "of its counter set seem to be taken",
        ),
        instead=say(
            "bug.refused_devices.instead",
            "Select the device by a CEL expression that leaves out the refused one.",
        ),
        mended_by="refused_devices_give_back",
    ),
    "neighbours_distinct": Bug(
        upstream="#140600",
        happens=say(
            "bug.neighbours_distinct",
            "distinctAttribute compares a device only with the one before it, so that the first "
            "and the third may be alike",
        ),
        instead=say(
            "bug.neighbours_distinct.instead",
            "Make one request for each value of the attribute, with a selector.",
        ),
        mended_by="distinct_among_all",
    ),
    "namespaces_without_labels": Bug(
        upstream="#141526",
        happens=say(
            "bug.namespaces_without_labels",
            "a namespaceSelector that a namespace without labels meets too, as one with NotIn or "
            "DoesNotExist alone, is read as any namespace",
        ),
        instead=say(
            "bug.namespaces_without_labels.instead",
            "Add {requirement} to its matchExpressions: every namespace meets it.",
            requirement="{key: kubernetes.io/metadata.name, operator: Exists}",
        ),
        mended_by="unlabelled_namespaces_apart",
    ),
    "budgets_used_up": Bug(
        upstream="#137981",
        happens=say(
            "bug.budgets_used_up",
            "a victim that breaks one PodDisruptionBudget uses up the others that cover it, so "
            "that more pods seem to break one",
        ),
        instead=say("bug.budgets_used_up.instead", "Cover each pod by one budget."),
        mended_by="budgets_spared",
    ),
    "empty_spread_selector": Bug(
        upstream="#141339",
        happens=say(
            "bug.empty_spread_selector",
            "a spread constraint with an empty labelSelector counts no pods, so that it spreads "
            "nothing",
        ),
        instead=say(
            "bug.spread_selector.instead",
            "Write into its labelSelector a label that all pods to be spread have.",
        ),
    ),
    "no_spread_selector": Bug(
        upstream="#135797",
        happens=say(
            "bug.no_spread_selector",
            "a spread constraint without a labelSelector is accepted and counts no pods, so that "
            "it spreads nothing",
        ),
        instead=say(
            "bug.spread_selector.instead",
            "Write into its labelSelector a label that all pods to be spread have.",
        ),
    ),
    "empty_budget_selector": Bug(
        upstream="#141785",
        happens=say(
            "bug.empty_budget_selector",
            "preemption passes over a PodDisruptionBudget with an empty selector, and pods "
            "without labels; the eviction API does not",
        ),
        instead=say(
            "bug.empty_budget_selector.instead",
            "Give the pods a label, and select it in the budget.",
        ),
    ),
    "equals_keep_daemon": Bug(
        upstream="#140984",
        by_design=True,
        happens=say(
            "bug.equals_keep_daemon",
            "a DaemonSet's pod has this one node only; while pods of the same or a higher "
            "priority fill it, none is evicted and it waits",
        ),
        instead=say(
            "bug.daemon.instead",
            "Give the DaemonSet a PriorityClass above that of the other pods.",
        ),
    ),
    "daemon_evicted": Bug(
        upstream="#141227",
        by_design=True,
        happens=say(
            "bug.daemon_evicted",
            "preemption does not see that a DaemonSet's pod can go to no other node, and evicts "
            "it like any other",
        ),
        instead=say(
            "bug.daemon.instead",
            "Give the DaemonSet a PriorityClass above that of the other pods.",
        ),
    ),
    "extender_empties_nodes": Bug(
        upstream="#141781",
        happens=say(
            "bug.extender_empties_nodes",
            "after an extender without nodeCacheCapable has filtered, plugins score every node "
            "as if no pod were on it",
        ),
        instead=say(
            "bug.extender_empties_nodes.instead",
            "Set nodeCacheCapable: true, and have the extender answer with names of nodes.",
        ),
    ),
    "extender_without_victims": Bug(
        upstream="#135486",
        happens=say(
            "bug.extender_without_victims",
            "an extender that leaves a candidate without victims ends preemption in an error",
        ),
        instead=say(
            "bug.extender_without_victims.instead",
            "Have the extender leave such a node out, or set ignorable: true.",
        ),
    ),
    "admin_counters": Bug(
        upstream="#140729",
        happens=say(
            "bug.admin_counters",
            "a request with adminAccess takes counters like any other, though it shares devices "
            "in use",
        ),
        instead=say(
            "bug.admin_counters.instead",
            "Select devices without consumesCounters, or publish them without for monitoring.",
        ),
    ),
    "all_of_incomplete_pool": Bug(
        upstream="#141898",
        happens=say(
            "bug.all_of_incomplete_pool",
            "allocationMode: All fails on every node that an incomplete pool belongs to, even if "
            "none of its devices is asked for",
        ),
        instead=say(
            "bug.all_of_incomplete_pool.instead",
            "Wait until the driver has published all slices of the pool, or ask for a number of "
            "devices.",
        ),
    ),
    "classes_of_one_resource": Bug(
        upstream="#141110",
        happens=say(
            "bug.classes_of_one_resource",
            "of several DeviceClasses with one extendedResourceName only the newest counts, or "
            "of equally old ones the first by name",
        ),
        instead=say(
            "bug.classes_of_one_resource.instead",
            "Give each DeviceClass an extendedResourceName that no other has.",
        ),
    ),
    "shares_charged_again": Bug(
        upstream="#140433",
        happens=say(
            "bug.shares_charged_again",
            "a further share of a device takes its counters again where the shares given before "
            "take no capacity",
        ),
        instead=say(
            "bug.shares_charged_again.instead",
            "Give the device a capacity with a requestPolicy, so that each share takes a part of "
            "it.",
        ),
        mended_by="shares_charged_once",
    ),
    "panic_balanced": Bug(
        happens=say(
            "bug.panic_balanced",
            "kube-scheduler ends in a panic where a pod requests an extended resource that "
            "NodeResourcesBalancedAllocation has among its resources and a DeviceClass backs with "
            "a selector",
        ),
        instead=say("bug.panic_balanced.instead", "Take it out of the resources of the plugin."),
        modelled=False,
    ),
    "panic_capacity": Bug(
        happens=say(
            "bug.panic_capacity",
            "kube-scheduler ends in a panic where two nodes are feasible for a pod with a claim "
            "to be provisioned, and a CSIStorageCapacity of its class says maximumVolumeSize and "
            "no capacity",
        ),
        instead=say(
            "bug.panic_capacity.instead",
            "Have the driver report one, or switch StorageCapacityScoring off.",
        ),
        modelled=False,
    ),
}
"""By name, in the order in which people read them."""


def bug_met(name: BugName, where: str, release: str) -> str:
    """Return what is said of a bug of a release where it is met."""
    bug = BUGS[name]
    if not bug.upstream:
        return say(
            "bug.met_unnumbered",
            "{where}: {happens} (a bug of {release}). {instead}",
            where=where,
            happens=bug.happens,
            release=release,
            instead=bug.instead,
        )
    if bug.by_design:
        return say(
            "bug.met_by_design",
            "{where}: {happens} (preemption of {release} is made so; {number}, not accepted so "
            "far, asks to change it). {instead}",
            where=where,
            happens=bug.happens,
            release=release,
            number=bug.upstream,
            instead=bug.instead,
        )
    return say(
        "bug.met",
        "{where}: {happens} (a bug of {release}, {number}). {instead}",
        where=where,
        happens=bug.happens,
        release=release,
        number=bug.upstream,
        instead=bug.instead,
    )


IN_ALL: Final[frozenset[BugName]] = frozenset(
    name for name, bug in BUGS.items() if bug.modelled and not bug.mended_by
)
"""Those of every release so far."""
