"""What pods request, after upstream's tables in component-helpers/resource."""

from __future__ import annotations

import pytest

from scheduler_core.api import (
    Container,
    ContainerStatus,
    Pod,
    PodCondition,
    PodStatus,
    ResourceRequirements,
)
from scheduler_core.cluster.requests import (
    Counted,
    integer_resources,
    pod_requests,
)
from tests.builders import make_pod

MI = 2**20


def container(name: str = "c", *, always: bool = False, **requests: str) -> Container:
    return Container(
        name=name,
        resources=ResourceRequirements(requests=requests),
        restart_policy="Always" if always else "",
    )


def pod(
    *containers: Container,
    init: tuple[Container, ...] = (),
    level: dict[str, str] | None = None,
    overhead: dict[str, str] | None = None,
    status: PodStatus | None = None,
) -> Pod:
    pod = make_pod("p").containers(*containers).init_containers(*init).status(status or PodStatus())
    level_requests = None if level is None else ResourceRequirements(requests=level)
    return pod.spec(resources=level_requests, overhead=overhead or {}).obj()


@pytest.mark.parametrize(
    ("item", "placed"),
    [
        (pod(), {}),
        (pod(container(cpu="1", memory="1Mi")), {"cpu": 1000, "memory": MI}),
        (pod(container(cpu="1"), container("d", cpu="250m")), {"cpu": 1250}),
        (pod(container(cpu="0.5m")), {"cpu": 1}),
        (pod(container(memory="100m")), {"memory": 1}),
        (pod(container(cpu="0")), {"cpu": 0}),
        # Init containers run one after the other: the largest counts if it is more.
        (pod(container(cpu="1"), init=(container("i", cpu="3"),)), {"cpu": 3000}),
        (
            pod(container(cpu="2"), init=(container("i", cpu="1"), container("j", memory="1Mi"))),
            {"cpu": 2000, "memory": MI},
        ),
        # Sidecars stay: they add to the containers, and to init containers started later.
        (pod(container(cpu="1"), init=(container("s", always=True, cpu="1"),)), {"cpu": 2000}),
        (
            pod(
                container(cpu="1"),
                init=(container("s", always=True, cpu="1"), container("i", cpu="5")),
            ),
            {"cpu": 6000},
        ),
        (
            pod(
                container(cpu="1"),
                init=(container("i", cpu="5"), container("s", always=True, cpu="1")),
            ),
            {"cpu": 5000},
        ),
        (
            pod(container(cpu="1"), overhead={"cpu": "100m", "memory": "1Mi"}),
            {"cpu": 1100, "memory": MI},
        ),
        # The pod level wins for cpu, memory and huge pages, not for other resources.
        (pod(container(cpu="1"), level={"cpu": "3"}), {"cpu": 3000}),
        (
            pod(
                container("c", always=False, **{"example.com/gpu": "2"}),
                level={"example.com/gpu": "9", "cpu": "1"},
            ),
            {"example.com/gpu": 2, "cpu": 1000},
        ),
        (
            pod(container(cpu="1", memory="2Mi"), level={"cpu": "3"}, overhead={"cpu": "1"}),
            {"cpu": 4000, "memory": 2 * MI},
        ),
    ],
)
def test_placed(item: Pod, placed: dict[str, int]) -> None:
    requests = pod_requests(item)
    assert requests.placed == placed
    assert requests.asked == placed


def resizing(
    *, actuated: str, allocated: str = "", pending: str = "", name: str = "c"
) -> PodStatus:
    conditions = (PodCondition(type="PodResizePending", reason=pending),) if pending else ()
    return PodStatus(
        conditions=conditions,
        container_statuses=(
            ContainerStatus(
                name=name,
                resources=ResourceRequirements(requests={"cpu": actuated}),
                allocated_resources={"cpu": allocated} if allocated else {},
            ),
        ),
    )


@pytest.mark.parametrize(
    ("status", "cpu_milli"),
    [
        (resizing(actuated="1"), 2000),
        (resizing(actuated="3"), 3000),
        (resizing(actuated="1", allocated="4"), 4000),
        (resizing(actuated="1", pending="Deferred"), 2000),
        (resizing(actuated="1", pending="Infeasible"), 1000),
        (resizing(actuated="9", name="another"), 2000),
    ],
)
def test_a_resize_in_flight_takes_the_most_it_may_need(status: PodStatus, cpu_milli: int) -> None:
    requests = pod_requests(pod(container(cpu="2"), status=status))
    assert requests.placed == {"cpu": cpu_milli}
    assert requests.asked == {"cpu": 2000}


def test_a_resize_at_pod_level() -> None:
    status = PodStatus(
        resources=ResourceRequirements(requests={"cpu": "5"}), allocated_resources={"cpu": "4"}
    )
    requests = pod_requests(pod(container(cpu="1"), level={"cpu": "3"}, status=status))
    assert requests.placed == {"cpu": 5000}
    assert requests.asked == {"cpu": 3000}


def test_integers_round_up() -> None:
    assert integer_resources({"cpu": "1.0001", "memory": "1.5", "pods": "110"}) == {
        "cpu": 1001,
        "memory": 2,
        "pods": 110,
    }


LEVEL = pod(
    container(cpu="1"),
    level={"cpu": "3"},
    status=PodStatus(resources=ResourceRequirements(requests={"cpu": "5"})),
)


@pytest.mark.parametrize(
    ("counted", "asked", "placed", "in_events"),
    [
        (Counted(), 3000, 5000, 5000),
        (Counted(pod_level_resizes=False), 3000, 3000, 3000),
        (Counted(pod_level=False, pod_level_resizes=False), 1000, 1000, 3000),
    ],
)
def test_gates_say_what_counts_at_pod_level(
    counted: Counted, asked: int, placed: int, in_events: int
) -> None:
    requests = pod_requests(LEVEL, counted)
    assert requests.asked == {"cpu": asked}
    assert requests.placed == {"cpu": placed}
    assert requests.in_events == {"cpu": in_events}
