from collections.abc import Sequence

import pytest

from scheduler_core.api import ContainerPort, Pod
from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.events import QueueingHint
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.status import Code
from scheduler_core.plugins.node_ports import NodePorts
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, hint_of, rejected

NO = (
    Code.UNSCHEDULABLE,
    ("node(s) didn't have free ports for the requested pod ports",),
)


def port(text: str) -> ContainerPort:
    """Read `protocol/address/number`, address and protocol optional: `80`, `UDP//80`."""
    *rest, number = text.split("/")
    protocol, address = (*rest, "", "")[:2]
    return ContainerPort(host_port=int(number), protocol=protocol, host_ip=address)


def ports(*texts: str) -> list[ContainerPort]:
    return [port(text) for text in texts]


def filtered(
    world: World, incoming: PodInfo, nodes: Nodes
) -> dict[str, tuple[Code, tuple[str, ...]]]:
    plugin = NodePorts()
    prepared = plugin.pre_filter(incoming, nodes)
    assert isinstance(prepared, Prepared)
    return rejected(plugin.filter(prepared.state, incoming, nodes), nodes)


@pytest.mark.parametrize(
    ("used", "wanted", "conflict"),
    [
        (["9090"], ["8080"], False),
        (["8080"], ["8080"], True),
        (["UDP//8080"], ["8080"], False),
        (["TCP//8080"], ["8080"], True),
        (["UDP//8080"], ["UDP//8080"], True),
        (["TCP/127.0.0.1/8080"], ["TCP/127.0.0.2/8080"], False),
        (["TCP/127.0.0.1/8080"], ["TCP/127.0.0.1/8080"], True),
        (["TCP/127.0.0.1/8080"], ["TCP/0.0.0.0/8080"], True),
        (["8080"], ["TCP/127.0.0.1/8080"], True),
        (["8000", "8001"], ["8001", "8080"], True),
        (["8000", "8001"], ["8011", "8012"], False),
        ([], ["8080"], False),
    ],
)
def test_conflicts(used: Sequence[str], wanted: Sequence[str], conflict: bool) -> None:
    world = World(
        make_node("n").obj(),
        make_node("free").obj(),
        make_pod("there").on("n").ports(*ports(*used)).obj(),
    )
    incoming = world.info(make_pod("incoming").ports(*ports(*wanted)).obj())
    assert filtered(world, incoming, world.all_nodes()) == ({"n": NO} if conflict else {})


def test_without_pre_filter_there_is_an_error() -> None:
    world = World(make_node("n").obj())
    nodes = world.all_nodes()
    verdict = NodePorts().filter(None, world.info(make_pod("incoming").obj()), nodes)
    text = 'reading "PreFilterNodePorts" from cycleState: not found'
    assert rejected(verdict, nodes) == {"n": (Code.ERROR, (text,))}


# ---------------------------------------------------------------- hypothetical worlds


@pytest.mark.parametrize(
    ("removed", "added", "taken"),
    [
        (["one"], [], False),
        (["one", "two"], [], False),
        (["other"], [], True),
        (["one"], ["one"], True),
        (["one"], ["other"], False),
        (["half"], [], False),
    ],
)
def test_used_ports_are_a_set_as_in_upstream(
    removed: Sequence[str], added: Sequence[str], taken: bool
) -> None:
    """Two pods share port 80; taking off either frees it, though the other is still there."""
    there = {
        "one": make_pod("one").on("n").ports(*ports("80")).obj(),
        "two": make_pod("two").on("n").ports(*ports("80")).obj(),
        "other": make_pod("other").on("n").ports(*ports("81")).obj(),
        "half": make_pod("half").on("n").ports(*ports("80", "81")).obj(),
    }
    world = World(make_node("n").obj(), *there.values())
    change = Change(
        added=tuple(world.info(there[name]) for name in added),
        removed=tuple(world.info(there[name]) for name in removed),
    )
    nodes = world.all_nodes().what_if({0: change})
    incoming = world.info(make_pod("incoming").ports(*ports("80")).obj())
    assert filtered(world, incoming, nodes) == ({"n": NO} if taken else {})


def test_a_port_given_back_stays_free_until_a_pod_takes_it_again() -> None:
    """Deleting one of two pods that share a port frees it for good, not just hypothetically."""
    one, two = (make_pod(name).on("n").ports(*ports("80")).obj() for name in ("one", "two"))
    world = World(make_node("n").obj(), one, two)
    incoming = world.info(make_pod("incoming").ports(*ports("80")).obj())
    assert filtered(world, incoming, world.all_nodes()) == {"n": NO}
    world.cluster.remove_pod(world.info(one), "n")
    assert filtered(world, incoming, world.all_nodes()) == {}
    world.add(make_pod("three").on("n").ports(*ports("81")).obj())
    assert filtered(world, incoming, world.all_nodes()) == {}
    world.add(one)
    assert filtered(world, incoming, world.all_nodes()) == {"n": NO}


def test_a_hypothetical_pod_of_a_template_seen_only_after_the_question() -> None:
    world = World(make_node("n").obj())
    incoming = world.info(make_pod("incoming").ports(*ports("80")).obj())
    assert filtered(world, incoming, world.all_nodes()) == {}
    late = world.info(make_pod("late").ports(*ports("80", "443")).obj())
    assert filtered(world, incoming, world.all_nodes().what_if({0: Change(added=(late,))})) == {
        "n": NO
    }


# ---------------------------------------------------------------- queueing


@pytest.mark.parametrize(
    ("deleted", "hint"),
    [
        (make_pod("gone").on("n").ports(*ports("80")).obj(), QueueingHint.QUEUE),
        (make_pod("gone").nominated("n").ports(*ports("80")).obj(), QueueingHint.QUEUE),
        (make_pod("gone").ports(*ports("80")).obj(), QueueingHint.SKIP),
        (make_pod("gone").on("n").ports(*ports("81")).obj(), QueueingHint.SKIP),
        (make_pod("gone").on("n").obj(), QueueingHint.SKIP),
    ],
)
def test_the_end_of_a_pod_with_the_port_queues(deleted: Pod, hint: QueueingHint) -> None:
    world = World()
    pod_event, node_event = NodePorts().events_to_register()
    assert (pod_event.event.label, node_event.event.label) == ("PodDelete", "NodeAdd")
    assert node_event.hint is None
    waiting = world.info(make_pod("incoming").ports(*ports("80")).obj())
    assert hint_of(pod_event)(waiting, world.info(deleted), None) is hint
