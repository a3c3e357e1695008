"""What creating a pod does to its label keys."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.api import LabelSelectorRequirement, Pod
from scheduler_core.changes.admission import admit, merge_label_keys
from tests.builders import make_pod

SEEN = LabelSelectorRequirement(key="version", operator="In", values=("1",))
OWN = LabelSelectorRequirement(key="version", operator="In", values=("2",))


def spreading(*requirements: LabelSelectorRequirement, uid: str = "") -> Pod:
    pod = make_pod("web").uid(uid).label("version", "2").spread("zone", 1, app="web").obj()
    (constraint,) = pod.spec.topology_spread_constraints
    assert constraint.label_selector is not None
    selector = replace(constraint.label_selector, match_expressions=requirements)
    constraint = replace(constraint, label_selector=selector, match_label_keys=("version",))
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=(constraint,)))


def requirements_of(pod: Pod) -> tuple[LabelSelectorRequirement, ...]:
    (constraint,) = pod.spec.topology_spread_constraints
    assert constraint.label_selector is not None
    return constraint.label_selector.match_expressions


def test_a_key_is_merged_beside_another_requirement_of_that_key() -> None:
    assert requirements_of(admit(spreading())) == (OWN,)
    assert requirements_of(admit(spreading(SEEN))) == (SEEN, OWN)


def test_merging_twice_is_merging_once() -> None:
    once = merge_label_keys(spreading())
    assert merge_label_keys(once) == once


def test_a_pod_with_a_uid_has_been_through_it() -> None:
    """Its labels may have changed since: its selector stays as the API server stored it."""
    assert requirements_of(admit(spreading(SEEN, uid="1"))) == (SEEN,)
