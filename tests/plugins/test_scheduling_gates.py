import pytest

from scheduler_core.api import PodSchedulingGate
from scheduler_core.framework.events import ActionType, EventResource, QueueingHint
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.plugins.scheduling_gates import SchedulingGates
from tests.plugins.harness import World, pod


def gates(*names):
    return tuple(PodSchedulingGate(name=name) for name in names)


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
def test_a_pod_waits_for_all_its_gates(names, status):
    gated = World().info(pod(scheduling_gates=gates(*names)))
    assert SchedulingGates().pre_enqueue(gated) == status


@pytest.mark.parametrize(
    ("changed", "hint"), [("incoming", QueueingHint.QUEUE), ("other", QueueingHint.SKIP)]
)
def test_only_the_pod_that_lost_its_gates_is_queued(changed, hint):
    world = World()
    (registered,) = SchedulingGates().events_to_register()
    assert registered.event.resource is EventResource.POD
    assert registered.event.action is ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    before = world.info(pod(changed, scheduling_gates=gates("foo")))
    after = world.info(pod(changed))
    assert registered.hint(world.info(pod(scheduling_gates=gates("foo"))), before, after) is hint
