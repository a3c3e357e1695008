from collections.abc import Sequence

import pytest

from scheduler_core.api import Node, Toleration
from scheduler_core.config.features import FeatureGates, feature_gates
from scheduler_core.framework.events import QueueingHint
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.status import Code
from scheduler_core.plugins.taint_toleration import TaintToleration
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, by_name, hint_of, rejected, taint, tolerate

NO = (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) had untolerated taint(s)",))


def reject(
    taints: Sequence[str], tolerations: Sequence[Toleration], **world: FeatureGates
) -> dict[str, tuple[Code, tuple[str, ...]]]:
    its_world = World(make_node("n").taints(*[taint(text) for text in taints]).obj(), **world)
    nodes = its_world.all_nodes()
    incoming = its_world.info(make_pod("incoming").tolerations(*tolerations).obj())
    return rejected(TaintToleration(its_world).filter(None, incoming, nodes), nodes)


@pytest.mark.parametrize(
    ("taints", "tolerations"),
    [
        ([], []),
        (["team=a:NoSchedule"], [tolerate("team", "a", effect="NoSchedule")]),
        (["team=a:NoSchedule"], [tolerate("team", "a")]),
        (["team=a:NoSchedule"], [tolerate("team", operator="Exists")]),
        (["team=a:NoSchedule"], [tolerate(operator="Exists")]),
        (["team=a:NoSchedule"], [tolerate("team", "a", operator="")]),
        (["team=a:NoSchedule", "b:NoExecute"], [tolerate("team", "a"), tolerate("b")]),
        (["team=a:PreferNoSchedule"], []),
        (["team=a:SomethingNew"], []),
    ],
)
def test_tolerated(taints: Sequence[str], tolerations: Sequence[Toleration]) -> None:
    assert reject(taints, tolerations) == {}


@pytest.mark.parametrize(
    ("taints", "tolerations"),
    [
        (["team=a:NoSchedule"], []),
        (["team=a:NoExecute"], []),
        (["team=a:NoSchedule"], [tolerate("team", "b")]),
        (["team=a:NoSchedule"], [tolerate("team", "a", effect="PreferNoSchedule")]),
        (["team=a:NoSchedule"], [tolerate("team", "a", effect="NoExecute")]),
        (["team=a:NoSchedule", "b:NoExecute"], [tolerate("team", "a")]),
        (["size=5:NoSchedule"], [tolerate("size", "9", operator="Lt")]),
    ],
)
def test_untolerated(taints: Sequence[str], tolerations: Sequence[Toleration]) -> None:
    assert reject(taints, tolerations) == {"n": NO}


def test_comparison_operators_need_their_gate() -> None:
    gates = feature_gates({"TaintTolerationComparisonOperators": True})
    below_nine = [tolerate("size", "9", operator="Lt")]
    assert reject(["size=5:NoSchedule"], below_nine, features=gates) == {}
    assert reject(["size=10:NoSchedule"], below_nine, features=gates) == {"n": NO}


SOFT_A, SOFT_B = "a=1:PreferNoSchedule", "b=2:PreferNoSchedule"


@pytest.mark.parametrize(
    ("tolerations", "raw", "normalized"),
    [
        ([], [0, 1, 2, 1], [100, 50, 0, 50]),
        ([tolerate("a", "1")], [0, 0, 1, 0], [100, 100, 0, 100]),
        ([tolerate("a", "1", effect="PreferNoSchedule")], [0, 0, 1, 0], [100, 100, 0, 100]),
        ([tolerate("a", "1", effect="NoSchedule")], [0, 1, 2, 1], [100, 50, 0, 50]),
        ([tolerate(operator="Exists")], [0, 0, 0, 0], [100, 100, 100, 100]),
    ],
)
def test_soft_taints_lower_the_score(
    tolerations: Sequence[Toleration], raw: Sequence[int], normalized: Sequence[int]
) -> None:
    world = World(
        make_node("none").obj(),
        make_node("one").taints(taint(SOFT_A)).obj(),
        make_node("two").taints(taint(SOFT_A), taint(SOFT_B)).obj(),
        make_node("hard too").taints(taint(SOFT_A), taint("c:NoSchedule")).obj(),
    )
    plugin, nodes = TaintToleration(world), world.all_nodes()
    incoming = world.info(make_pod("incoming").tolerations(*tolerations).obj())
    prepared = plugin.pre_score(None, incoming, nodes)
    assert isinstance(prepared, Prepared)
    scores = plugin.score(prepared.state, incoming, nodes)
    assert scores.tolist() == raw
    stretched = plugin.normalize_score(prepared.state, incoming, nodes, scores)
    assert list(by_name(stretched, nodes).values()) == normalized


FREE, HARD, SOFT = (
    make_node("n").taints(*[taint(t) for t in ts]).obj() for ts in ([], ["a:NoSchedule"], [SOFT_A])
)


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        (None, FREE, QueueingHint.QUEUE),
        (None, SOFT, QueueingHint.QUEUE),
        (None, HARD, QueueingHint.SKIP),
        (HARD, FREE, QueueingHint.QUEUE),
        (HARD, SOFT, QueueingHint.QUEUE),
        (FREE, HARD, QueueingHint.SKIP),
        (FREE, FREE, QueueingHint.SKIP),
        (HARD, HARD, QueueingHint.SKIP),
    ],
)
def test_a_node_that_ceases_to_repel_the_pod_queues(
    before: Node | None, after: Node, hint: QueueingHint
) -> None:
    world = World()
    node_event, _ = TaintToleration(world).events_to_register()
    assert hint_of(node_event)(world.info(make_pod("incoming").obj()), before, after) is hint


@pytest.mark.parametrize(
    ("name", "hint"), [("incoming", QueueingHint.QUEUE), ("other", QueueingHint.SKIP)]
)
def test_any_new_toleration_of_the_pod_queues(name: str, hint: QueueingHint) -> None:
    world = World()
    _, pod_event = TaintToleration(world).events_to_register()
    changed = world.info(make_pod(name).tolerations(tolerate("any")).obj())
    assert (
        hint_of(pod_event)(
            world.info(make_pod("incoming").obj()), world.info(make_pod(name).obj()), changed
        )
        is hint
    )
