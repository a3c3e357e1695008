"""Changes in the words that people and scripts use, in the cluster of a held cycle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kviz.bench.workloads import WORKLOADS
from scheduler_core.changes import ChangeError, read_changes
from scheduler_core.changes.plan import StepAtCycle
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.sim.preview import PreviewedCycle
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.trace.events import PreemptionDecided
from scheduler_core.trace.records import Result
from tests.builders import NodeBuilder, PodBuilder
from tests.effort import examples
from tests.sim.test_preview import held_cycle, recorded, result

CPU = "spec.containers[0].resources.requests.cpu"


@pytest.fixture
def held() -> ReenactedCycle:
    """A pod that does not fit beside the one that is there; another one waits behind it."""
    return held_cycle(
        [
            NodeBuilder("n").cpu("4").obj(),
            PodBuilder("there").requests({"cpu": "3"}).on("n").obj(),
            PodBuilder("p").requests({"cpu": "2"}).obj(),
            PodBuilder("behind").requests({"cpu": "1"}).obj(),
        ],
        1,
    )


def previewed(held: ReenactedCycle, *changes: object) -> PreviewedCycle:
    return held.previews.change(read_changes(list(changes)))  # type: ignore[arg-type]


def set_cpu(name: str, value: str) -> dict[str, object]:
    target = {"kind": "Pod", "namespace": "default", "name": name}
    return {"set": {**target, "path": CPU, "value": value}}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (set_cpu("p", "1"), Result.SCHEDULED),
        (set_cpu("there", "2"), Result.SCHEDULED),
        ("pod/default/there delete", Result.SCHEDULED),
        ({"copyNode": {"node": "n"}}, Result.SCHEDULED),
        ({"drain": "n"}, Result.UNSCHEDULABLE),
        ({"cordon": "n"}, Result.UNSCHEDULABLE),
        (
            {"put": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "more"}}},
            Result.UNSCHEDULABLE,
        ),
    ],
)
def test_one_change_decides(held: ReenactedCycle, change: object, expected: Result) -> None:
    found = previewed(held, change)
    assert result(found) == expected
    assert not found.as_recorded
    assert found.without_effect == ()


def test_changes_are_carried_out_in_order(held: ReenactedCycle) -> None:
    taint = {"taint": {"node": "n", "key": "gpu", "effect": "NoSchedule"}}
    assert result(previewed(held, set_cpu("p", "1"), taint)) == Result.UNSCHEDULABLE
    untaint = {"untaint": {"node": "n", "key": "gpu"}}
    assert result(previewed(held, set_cpu("p", "1"), taint, untaint)) == Result.SCHEDULED


def test_what_cannot_matter_is_named(held: ReenactedCycle) -> None:
    found = previewed(held, set_cpu("behind", "2"), {"uncordon": "n"})
    assert found.as_recorded
    assert [(each.path, each.message) for each in found.without_effect] == [
        (
            ("changes", 0),
            "default/behind is pending and not nominated to a node: it takes no part in the cycle",
        ),
        (("changes", 1), "nothing changes: it is so already"),
    ]


def test_a_changed_template_makes_no_claim_in_the_cycle(held: ReenactedCycle) -> None:
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one-gpu", "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": []}}},
    }
    found = previewed(held, {"create": [template]})
    assert [(each.path, each.message) for each in found.without_effect] == [
        (
            ("changes", 0),
            "a claim is made from its template before the cycle: start a run with the change",
        )
    ]


def test_what_cannot_be_carried_out_is_refused_with_its_place(held: ReenactedCycle) -> None:
    with pytest.raises(ChangeError) as refused:
        previewed(
            held,
            {"cordon": "elsewhere"},
            {"weight": {"plugin": "Nobody", "weight": 2}},
            {"gate": {"name": "SchedulerQueueingHints", "enabled": False}},
        )
    places = [each.path[:2] for each in refused.value.problems]
    assert places == [("changes", 0), ("changes", 1), ("changes", 2)]
    texts = [each.message for each in refused.value.problems]
    assert "there is none" in texts[0]
    assert "no profile scores with Nobody" in texts[1]
    assert "counts from the beginning of a run" in texts[2]


def test_weights_go_on_from_the_configuration_before_them(held: ReenactedCycle) -> None:
    config = {
        "config": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    }
    weight = {"weight": {"plugin": "NodeResourcesFit", "weight": 5}}
    found = previewed(held, config, weight)
    assert found.profiles is not None
    score = next(point for point in found.profiles[0].points if point.point == "Score")
    assert 5 in score.weights
    assert previewed(held, config).profiles is None, "the default one is the run's own"


CHANGES = st.one_of(
    st.builds(lambda i: {"cordon": f"node-{i:05d}"}, st.integers(0, 11)),
    st.builds(
        lambda i, effect: {"taint": {"node": f"node-{i:05d}", "key": "k", "effect": effect}},
        st.integers(0, 11),
        st.sampled_from(["NoSchedule", "PreferNoSchedule"]),
    ),
    st.builds(
        lambda i, cpu: {
            "set": {
                "kind": "Node",
                "name": f"node-{i:05d}",
                "path": "status.allocatable.cpu",
                "value": cpu,
            }
        },
        st.integers(0, 11),
        st.sampled_from(["1", "2", "6", "32"]),
    ),
)


@examples(8)
@given(
    st.sampled_from(["preemption", "contested", "mixed", "volumes"]),
    st.integers(2, 14),
    st.lists(CHANGES, min_size=1, max_size=2),
)
def test_a_later_cycle_goes_as_in_a_run_that_changes_there(
    workload: str, number: int, documents: list[dict[str, object]]
) -> None:
    objects = list(WORKLOADS[workload].make(12, 14))
    changes = read_changes(documents)  # type: ignore[arg-type]
    later = tuple(StepAtCycle(number, change) for change in changes)  # type: ignore[arg-type]
    trace = list(simulate(objects, RunOptions(later=later)))
    expected = recorded(trace, number)
    found = held_cycle(objects, number).previews.change(changes)
    # A change may wake a pod that is then tried first; that is another cycle.
    if expected[0] == found.cycle[0]:
        assert list(found.cycle[:-1]) == expected[:-1]


def test_a_weight_leaves_preemption_as_it_was() -> None:
    held = held_cycle(list(WORKLOADS["preemption"].make(12, 14)), 9)
    found = previewed(held, {"weight": {"plugin": "NodeResourcesFit", "weight": 9}})
    assert any(isinstance(event, PreemptionDecided) for event in found.cycle)
    assert found.as_recorded
