from collections.abc import Sequence

import pytest

from scheduler_core.framework.events import ActionType, EventResource, QueueingHint
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.plugins.scheduling_gates import SchedulingGates
from tests.builders import make_pod
from tests.plugins.harness import World, hint_of


@pytest.mark.parametrize(
    ("names", "status"),
    [
        ([], SUCCESS),
        (
            ["foo", "bar"],
            Status(
                Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("waiting for scheduling gates: [foo bar]",)
            ),
        ),
    ],
)
def test_a_pod_waits_for_all_its_gates(names: Sequence[str], status: Status) -> None:
    gated = World().info(make_pod("incoming").gates(*names).obj())
    assert SchedulingGates().pre_enqueue(gated) == status


@pytest.mark.parametrize(
    ("changed", "hint"), [("incoming", QueueingHint.QUEUE), ("other", QueueingHint.SKIP)]
)
def test_only_the_pod_that_lost_its_gates_is_queued(changed: str, hint: QueueingHint) -> None:
    world = World()
    (registered,) = SchedulingGates().events_to_register()
    assert registered.event.resource is EventResource.POD
    assert registered.event.action is ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    before = world.info(make_pod(changed).gates("foo").obj())
    after = world.info(make_pod(changed).obj())
    assert (
        hint_of(registered)(
            world.info(make_pod("incoming").gates("foo").obj()),
            before,
            after,
        )
        is hint
    )
