"""The differences between releases of kube-scheduler, each with a name.

Off is what v1.36.2 does. Code asks a switch where it builds what behaves by it, and never which
release is followed. Single switches can be set otherwise in a copy of a table
(`msgspec.structs.replace`), to see what one difference alone makes of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from scheduler_core.wording import say


class Switches(Struct, frozen=True, kw_only=True):
    """The differences of one release from v1.36.2; `SWITCHES` says what each one is."""

    refused_devices_give_back: bool = False
    placement_in_message: bool = False
    quiet_claim_post_filter: bool = False
    target_pod_events: bool = False
    narrow_taint_events: bool = False
    scale_up_events: bool = False
    any_anti_affinity_term: bool = False
    claim_deletion_events: bool = False
    gated_pods_nominated: bool = False
    unlabelled_namespaces_apart: bool = False
    image_volumes_raise_limit: bool = False
    requests_by_pod: bool = False
    budgets_spared: bool = False
    batches_rescore: bool = False
    config_for_all_requests: bool = False
    distinct_among_all: bool = False
    cel_errors_name_device: bool = False
    shares_charged_once: bool = False
    counters_of_own_nodes: bool = False
    counters_by_driver: bool = False
    all_despite_use: bool = False
    claim_limit_by_request: bool = False
    capacities_in_range: bool = False
    rules_need_selector: bool = False
    gated_pods_flushed: bool = False
    preemptors_activated: bool = False
    compatibility_groups_withheld: bool = False
    node_name_first: bool = False
    group_post_filter_sets: bool = False
    mount_options_required: bool = False
    list_attributes_read: bool = False
    derived_attributes_refused: bool = False
    stray_users_counted: bool = False


AS_IN_1_36_2: Final = Switches()


class Switch(Struct, frozen=True):
    """What people are told of a switch that is on."""

    upstream: str
    """The change's number, as in `#135905`."""
    sentence: str
    instead: str = ""
    """What to write in objects to have the earlier behaviour, where something does that."""


SWITCHES: Final[Mapping[str, Switch]] = {
    "refused_devices_give_back": Switch(
        "#140431",
        say(
            "switch.refused_devices_give_back",
            "A device that is refused or given up gives back everything the search had "
            "booked for it: counters, constraints, its mark as taken, capacity.",
        ),
    ),
    "placement_in_message": Switch(
        "#140180",
        say(
            "switch.placement_in_message",
            "After a successful preemption the message names the node and the number of victims.",
        ),
    ),
    "quiet_claim_post_filter": Switch(
        "#140222",
        say(
            "switch.quiet_claim_post_filter",
            "When DynamicResources has no claim to deallocate, its PostFilter adds nothing "
            "to the message.",
        ),
    ),
    "target_pod_events": Switch(
        "#135905",
        say(
            "switch.target_pod_events",
            "A change of the waiting pod itself is a separate event, TargetPodUpdate..., and "
            "plugins no longer register for such changes of other pods.",
        ),
    ),
    "narrow_taint_events": Switch(
        "#138708",
        say(
            "switch.narrow_taint_events",
            "A changed taint wakes only pods that TaintToleration or NodeUnschedulable rejected.",
        ),
    ),
    "scale_up_events": Switch(
        "#140000",
        say(
            "switch.scale_up_events",
            "If the requests of a waiting pod grow, that is a separate event, which "
            "NodeResourcesFit does not register.",
        ),
    ),
    "any_anti_affinity_term": Switch(
        "#139161",
        say(
            "switch.any_anti_affinity_term",
            "InterPodAffinity's hint wakes a pod if the changed or deleted pod matched any "
            "of the anti-affinity terms, not only if it matched all of them.",
        ),
    ),
    "claim_deletion_events": Switch(
        "#140831",
        say(
            "switch.claim_deletion_events",
            "The deletion of a ResourceClaim that had devices wakes pods that "
            "DynamicResources rejected.",
        ),
    ),
    "gated_pods_nominated": Switch(
        "#139057",
        say(
            "switch.gated_pods_nominated",
            "A gated pod with a nominatedNodeName counts on that node for pods of lower priority.",
        ),
    ),
    "unlabelled_namespaces_apart": Switch(
        "#141526",
        say(
            "switch.unlabelled_namespaces_apart",
            "A namespaceSelector that would also match a namespace without labels (NotIn, "
            "DoesNotExist) selects the namespaces it matches; before, it selected all of them.",
        ),
        say("switch.all_namespaces", "write namespaceSelector: {{}}, which selects all namespaces"),
    ),
    "image_volumes_raise_limit": Switch(
        "#138951",
        say(
            "switch.image_volumes_raise_limit",
            "ImageLocality counts an image volume like a container: it raises the sum that "
            "scores 100.",
        ),
    ),
    "requests_by_pod": Switch(
        "#140047",
        say(
            "switch.requests_by_pod",
            "A pod that is resized in place requests the largest of three sums: of the "
            "specification, of what is allocated and of what is in effect.",
        ),
    ),
    "budgets_spared": Switch(
        "#137981",
        say(
            "switch.budgets_spared",
            "A victim that breaks one PodDisruptionBudget does not use up the other budgets "
            "that cover it.",
        ),
    ),
    "batches_rescore": Switch(
        "#140289",
        say(
            "switch.batches_rescore",
            "In a batch, a node that still takes the pod is scored again and competes to be "
            "the next hint.",
        ),
    ),
    "config_for_all_requests": Switch(
        "#139731",
        say(
            "switch.config_for_all_requests",
            "A claim's configuration for several requests is written once, and without naming "
            "requests where it applies to all.",
        ),
    ),
    "distinct_among_all": Switch(
        "#140600",
        say(
            "switch.distinct_among_all",
            "distinctAttribute compares all devices of a claim with each other, not only "
            "with the one before.",
        ),
    ),
    "cel_errors_name_device": Switch(
        "#136709",
        say(
            "switch.cel_errors_name_device",
            "An error of a CEL selector names the device, and for a missing key gives advice.",
        ),
    ),
    "shares_charged_once": Switch(
        "#140437",
        say(
            "switch.shares_charged_once",
            "A further share of a device takes no counters where the shares given before take no "
            "capacity, either.",
        ),
    ),
    "counters_of_own_nodes": Switch(
        "#138917",
        say(
            "switch.counters_of_own_nodes",
            "A ResourceSlice with shared counters concerns the nodes that it is for. Before, it "
            "concerned all nodes, and a pool with a slice missing stopped requests for all devices "
            "everywhere.",
        ),
    ),
    "counters_by_driver": Switch(
        "#140435",
        say(
            "switch.counters_by_driver",
            "Pools of one name that belong to two drivers have separate counters.",
        ),
    ),
    "all_despite_use": Switch(
        "#140769",
        say(
            "switch.all_despite_use",
            "A request for all devices is refused while the capacity of one of them is used up. "
            "Before, it was given the others.",
        ),
    ),
    "claim_limit_by_request": Switch(
        "#141307",
        say(
            "switch.claim_limit_by_request",
            "A claim for more than 32 devices is refused at the request that goes beyond, and the "
            "error names it.",
        ),
    ),
    "capacities_in_range": Switch(
        "#140442",
        say(
            "switch.capacities_in_range",
            "A requested capacity that is negative, or too large to be rounded to the device's "
            "steps, ends the attempt with an error. Before, the device was passed over or given.",
        ),
    ),
    "rules_need_selector": Switch(
        "#141998",
        say(
            "switch.rules_need_selector",
            "A DeviceTaintRule without deviceSelector taints no device. Before, it tainted all.",
        ),
        instead=say(
            "switch.rules_need_selector.instead",
            "Give the rule an empty deviceSelector: it taints all devices.",
        ),
    ),
    "gated_pods_flushed": Switch(
        "#139162",
        say(
            "switch.gated_pods_flushed",
            "The flush after five minutes asks the gates of gated pods again. Before, it passed "
            "over these pods.",
        ),
    ),
    "preemptors_activated": Switch(
        "#140054",
        say(
            "switch.preemptors_activated",
            "A pod whose last victim was not bound yet is tried again at once. Before, it waited "
            "for its backoff.",
        ),
    ),
    "compatibility_groups_withheld": Switch(
        "#139795",
        say(
            "switch.compatibility_groups_withheld",
            "While DRADeviceCompatibilityGroups is off, a ResourceSlice with a device that has "
            "compatibilityGroups is ignored, so that its pool is incomplete. Before, the field "
            "was not read.",
        ),
        instead=say(
            "switch.compatibility_groups_withheld.instead",
            "Have the driver publish its devices without compatibilityGroups.",
        ),
    ),
    "node_name_first": Switch(
        "#140000",
        say(
            "switch.node_name_first",
            "By default NodeName filters before NodeUnschedulable. Before, it filtered after it.",
        ),
    ),
    "group_post_filter_sets": Switch(
        "#139674",
        say(
            "switch.group_post_filter_sets",
            "A profile may enable plugins at podGroupPostFilter. Before, such a configuration was "
            "refused.",
        ),
    ),
    "mount_options_required": Switch(
        "#140013",
        say(
            "switch.mount_options_required",
            "A pod that mounts a volume with bindMountOptions needs a node that declares the "
            "feature VolumeBindMountOptions. Before, the field was not read.",
        ),
        instead=say(
            "switch.mount_options_required.instead",
            "Leave out bindMountOptions: the pod needs no node feature for its volumes.",
        ),
    ),
    "list_attributes_read": Switch(
        "#139395",
        say(
            "switch.list_attributes_read",
            "CEL selectors see attributes that are lists. Before, while DRAListTypeAttributes was "
            "off, a device with such an attribute ended the attempt with an error.",
        ),
    ),
    "derived_attributes_refused": Switch(
        "#140029",
        say(
            "switch.derived_attributes_refused",
            "While DRADerivedAttributes is off, a request with derivedAttributes ends the attempt "
            "with an error. Before, the field was not read.",
        ),
        instead=say(
            "switch.derived_attributes_refused.instead",
            "Leave out derivedAttributes, and constraints on them.",
        ),
    ),
    "stray_users_counted": Switch(
        "#139238",
        say(
            "switch.stray_users_counted",
            "A pod that comes onto a node that does not exist uses its ReadWriteOncePod claim "
            "until a node is added or deleted. Before, it did not count.",
        ),
    ),
}
"""By the name of the field, in the order in which people read them."""
