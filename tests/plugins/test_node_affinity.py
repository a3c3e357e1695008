from collections.abc import Mapping, Sequence

import pytest

from scheduler_core.api import Affinity, Node, NodeSelectorTerm
from scheduler_core.config.types import NodeAffinityArgs
from scheduler_core.framework.events import QueueingHint
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.status import SKIP, Code, Status
from scheduler_core.plugins.node_affinity import NodeAffinity
from tests.builders import make_node, make_pod
from tests.plugins.harness import (
    World,
    affinity,
    expression,
    hint_of,
    named,
    node_affinity,
    rejected,
    term,
)

NO_ADDED = NodeAffinityArgs()


def cluster() -> World:
    return World(
        make_node("a1").label("zone", "a").label("disk", "ssd").label("cores", "4").obj(),
        make_node("a2").label("zone", "a").label("cores", "16").obj(),
        make_node("b1").label("zone", "b").label("disk", "hdd").label("cores", "x").obj(),
        make_node("bare").obj(),
    )


def added(
    *required: NodeSelectorTerm, preferred: Sequence[tuple[int, NodeSelectorTerm]] = ()
) -> NodeAffinityArgs:
    return NodeAffinityArgs(added_affinity=node_affinity(*required, preferred=preferred))


def fitting(args: NodeAffinityArgs = NO_ADDED, **spec: Affinity | Mapping[str, str]) -> list[str]:
    """Return the nodes that pass, through PreFilter and, alike, without it."""
    world = cluster()
    plugin, nodes = NodeAffinity(args, world), world.all_nodes()
    incoming = world.info(make_pod("incoming").spec(**spec).obj())
    prepared = plugin.pre_filter(incoming, nodes)
    assert isinstance(prepared, Prepared)
    verdict = plugin.filter(prepared.state, incoming, nodes)
    assert rejected(plugin.filter(None, incoming, nodes), nodes) == rejected(verdict, nodes)
    return [name for name in nodes.names if name not in rejected(verdict, nodes)]


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([term(expression("zone", "In", "a", "c"))], ["a1", "a2"]),
        ([term(expression("zone", "NotIn", "a"))], ["b1", "bare"]),
        ([term(expression("disk", "Exists"))], ["a1", "b1"]),
        ([term(expression("disk", "DoesNotExist"))], ["a2", "bare"]),
        ([term(expression("cores", "Gt", "8"))], ["a2"]),
        ([term(expression("cores", "Lt", "8"))], ["a1"]),
        ([term(expression("zone", "In", "a"), expression("disk", "Exists"))], ["a1"]),
        (
            [term(expression("zone", "In", "b")), term(expression("cores", "Gt", "8"))],
            ["a2", "b1"],
        ),
        ([term()], []),
        ([term(expression("zone", "Inside", "a"))], []),
        ([term(expression("zone", "Inside", "a")), term(expression("zone", "In", "b"))], ["b1"]),
        ([named("a2")], ["a2"]),
        ([term(fields=[expression("metadata.name", "NotIn", "a2")])], ["a1", "b1", "bare"]),
        ([term(expression("zone", "In", "b"), fields=named("a1").match_fields)], []),
        ([term(fields=[expression("metadata.uid", "In", "a1")])], []),
        ([term(fields=[expression("metadata.uid", "In", "")])], ["a1", "a2", "b1", "bare"]),
    ],
)
def test_required_terms(terms: Sequence[NodeSelectorTerm], expected: Sequence[str]) -> None:
    assert fitting(affinity=affinity(*terms)) == expected


@pytest.mark.parametrize(
    ("args", "spec", "skips"),
    [
        (NO_ADDED, {}, True),
        (NO_ADDED, {"affinity": affinity(preferred=[(1, named("a1"))])}, True),
        (NO_ADDED, {"node_selector": {"zone": "a"}}, False),
        (added(named("a1")), {}, False),
        (added(preferred=[(1, named("a1"))]), {}, True),
    ],
)
def test_pre_filter_skips_what_it_has_nothing_to_say_about(
    args: NodeAffinityArgs, spec: Mapping[str, Affinity | Mapping[str, str]], skips: bool
) -> None:
    world = cluster()
    outcome = NodeAffinity(args, world).pre_filter(
        world.info(make_pod("incoming").spec(**spec).obj()), world.all_nodes()
    )
    assert (outcome is SKIP) is skips


def scored(
    preferred: Sequence[tuple[int, NodeSelectorTerm]] = (), args: NodeAffinityArgs = NO_ADDED
) -> tuple[list[int], ...]:
    """Return raw and normalised scores of a1, a2, b1 and bare, through PreScore and without it."""
    world = cluster()
    plugin, nodes = NodeAffinity(args, world), world.all_nodes()
    incoming = world.info(make_pod("incoming").affinity(affinity(preferred=preferred)).obj())
    prepared = plugin.pre_score(None, incoming, nodes)
    assert isinstance(prepared, Prepared)
    raw = plugin.score(prepared.state, incoming, nodes)
    assert plugin.score(None, incoming, nodes).tolist() == raw.tolist()
    normalized = plugin.normalize_score(prepared.state, incoming, nodes, raw)
    return raw.tolist(), normalized.tolist()


ZONE_A, SSD = term(expression("zone", "In", "a")), term(expression("disk", "In", "ssd"))


@pytest.mark.parametrize(
    ("preferred", "args", "raw", "normalized"),
    [
        ([(2, ZONE_A)], NO_ADDED, [2, 2, 0, 0], [100, 100, 0, 0]),
        ([(2, ZONE_A), (4, SSD)], NO_ADDED, [6, 2, 0, 0], [100, 33, 0, 0]),
        ([(2, ZONE_A), (0, SSD)], NO_ADDED, [2, 2, 0, 0], [100, 100, 0, 0]),
        ([(2, term())], NO_ADDED, [0, 0, 0, 0], [0, 0, 0, 0]),
        ([(5, named("bare"))], NO_ADDED, [0, 0, 0, 5], [0, 0, 0, 100]),
        ([], added(preferred=[(3, SSD)]), [3, 0, 0, 0], [100, 0, 0, 0]),
        ([(1, ZONE_A)], added(preferred=[(3, SSD)]), [4, 1, 0, 0], [100, 25, 0, 0]),
    ],
)
def test_preferred_terms_add_up(
    preferred: Sequence[tuple[int, NodeSelectorTerm]],
    args: NodeAffinityArgs,
    raw: Sequence[int],
    normalized: Sequence[int],
) -> None:
    assert scored(preferred, args) == (raw, normalized)


# ---------------------------------------------------------------- scoring


ZONE_A, SSD = term(expression("zone", "In", "a")), term(expression("disk", "In", "ssd"))


def test_pre_score_reports_every_invalid_term() -> None:
    world = cluster()
    terms = [
        (1, term(expression("zone", "In"))),
        (1, SSD),
        (1, term(fields=[expression("metadata.name", "In")])),
        (0, term(expression("zone", "Nonsense"))),
    ]
    incoming = world.info(make_pod("incoming").affinity(affinity(preferred=terms)).obj())
    status = NodeAffinity(NO_ADDED, world).pre_score(None, incoming, world.all_nodes())
    assert status == Status(
        Code.ERROR,
        (
            "[[0].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, "
            "values set can't be empty, [2].matchFields[0].values: Invalid value: null: must have "
            "one element]",
        ),
    )


# ---------------------------------------------------------------- queueing

IN_A, IN_B = make_node("n").label("zone", "a").obj(), make_node("n").label("zone", "b").obj()


@pytest.mark.parametrize(
    ("args", "before", "after", "hint"),
    [
        (NO_ADDED, None, IN_A, QueueingHint.QUEUE),
        (NO_ADDED, None, IN_B, QueueingHint.SKIP),
        (NO_ADDED, IN_B, IN_A, QueueingHint.QUEUE),
        (NO_ADDED, IN_A, IN_A, QueueingHint.SKIP),
        (NO_ADDED, IN_A, IN_B, QueueingHint.SKIP),
        (added(ZONE_A), None, IN_A, QueueingHint.QUEUE),
        (added(SSD), None, IN_A, QueueingHint.SKIP),
        (added(SSD), IN_B, IN_A, QueueingHint.SKIP),
    ],
)
def test_a_node_that_comes_to_match_queues(
    args: NodeAffinityArgs, before: Node | None, after: Node, hint: QueueingHint
) -> None:
    world = World()
    (registered,) = NodeAffinity(args, world).events_to_register()
    waiting = world.info(make_pod("incoming").node_selector("zone", "a").obj())
    assert hint_of(registered)(waiting, before, after) is hint
