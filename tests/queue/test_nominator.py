import pytest

from scheduler_core.api import Pod
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.queue.moves import Nomination
from scheduler_core.queue.nominator import NOOP, OVERRIDE, Nominator
from scheduler_core.trace.records import Nominating
from tests.builders import make_pod
from tests.queue.queue_world import pod_info, with_nomination


class Cast:
    """A nominator over pods that are alive unless a test says otherwise."""

    def __init__(self) -> None:
        self.live: dict[str, Pod] = {}
        self.told: list[tuple[str, str]] = []
        self.nominator = Nominator(live_pod=self.live.get, emit=self._hear)

    def _hear(self, nomination: Nomination) -> None:
        self.told.append((nomination.pod.key, nomination.node_name))

    def pod(self, name: str, *, nominated: str = "", node_name: str = "") -> PodInfo:
        pod = pod_info(make_pod(name).nominated(nominated).on(node_name))
        self.live[pod.key] = pod.pod
        return pod

    def on(self, node_name: str) -> list[str]:
        return [p.key for p in self.nominator.nominated_pods_for_node(node_name)]


@pytest.fixture
def cast() -> Cast:
    return Cast()


@pytest.mark.parametrize(
    ("own", "nominating", "node_name", "result"),
    [
        ("", OVERRIDE, "n1", "n1"),
        ("n2", OVERRIDE, "n1", "n1"),
        ("n2", OVERRIDE, "", ""),
        ("n2", NOOP, "", "n2"),
        ("n2", NOOP, "n1", "n2"),
        ("n2", "", "", "n2"),
        ("", NOOP, "", ""),
    ],
)
def test_modes(cast: Cast, own: str, nominating: Nominating, node_name: str, result: str) -> None:
    pod = cast.pod("p", nominated=own)
    cast.nominator.add(pod, nominating, node_name)
    assert cast.nominator.node_of(pod) == result
    assert cast.nominator.nominations() == ({"default/p": result} if result else {})
    assert cast.told == ([("default/p", result)] if result else [])


def test_pods_of_a_node_come_in_order_of_nomination(cast: Cast) -> None:
    for name in ("b", "a", "c"):
        cast.nominator.add(cast.pod(name), OVERRIDE, "n1")
    assert cast.on("n1") == ["default/b", "default/a", "default/c"]


def test_a_pod_that_is_gone_or_bound_is_not_nominated(cast: Cast) -> None:
    gone = cast.pod("gone")
    bound = cast.pod("bound")
    for pod in (gone, bound):
        cast.nominator.add(pod, OVERRIDE, "n1")
    del cast.live[gone.key]
    cast.pod("bound", node_name="n3")
    for pod in (gone, bound):
        cast.nominator.add(pod, OVERRIDE, "n2")
    assert cast.nominator.nominations() == {}
    assert cast.told[2:] == [("default/gone", ""), ("default/bound", "")]


@pytest.mark.parametrize(
    ("in_memory", "old", "new", "result"),
    [
        # The nomination made in memory survives an update that does not know of it.
        ("n1", "", "", "n1"),
        ("n1", "", "n2", "n2"),
        ("n1", "n1", "n2", "n2"),
        ("n1", "n1", "", ""),
        ("", "", "", ""),
        ("", "n1", "n1", "n1"),
    ],
)
def test_update(cast: Cast, in_memory: str, old: str, new: str, result: str) -> None:
    before = cast.pod("p", nominated=old)
    if in_memory:
        cast.nominator.add(before, OVERRIDE, in_memory)
    after = with_nomination(before, new)
    cast.nominator.update(before, after)
    assert cast.nominator.node_of(after) == result
    if result:
        assert list(cast.nominator.nominated_pods_for_node(result)) == [after]


def test_a_nomination_outlasts_what_is_known_of_the_pod(cast: Cast) -> None:
    cast.nominator.add(cast.pod("p"), OVERRIDE, "n1")
    named = pod_info(make_pod("p"))
    cast.nominator.restate(named)
    cast.nominator.restate(pod_info(make_pod("other")))
    assert cast.nominator.nominated_by_node() == {"n1": [named]}
    assert cast.told == [("default/p", "n1")]
