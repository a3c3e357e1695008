import pytest

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    EventObject,
    EventResource,
    QueueingHint,
)
from scheduler_core.queue.cluster_events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_UPDATE,
    FORCE_ACTIVATE,
    NODE_ADD,
    UNSCHEDULABLE_TIMEOUT,
    match_cluster_events,
)
from scheduler_core.queue.moves import Hint, Strategy
from scheduler_core.queue.profiles import QueueProfile, QueueProfiles
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.queue.queueing_hints import EVERY_RESOURCE, EXTENDER_NAME, QueueingHints
from tests.builders import make_pod
from tests.queue.queue_world import START_NS, Gate, Rejector, pod_info

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
NODE_LABEL = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
NODE_TAINT = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)
POD_ANY = ClusterEvent(EventResource.POD, ActionType.ALL)
WILD = ClusterEvent(EventResource.WILD_CARD, ActionType.ALL)


def event(resource: EventResource, action: ActionType) -> ClusterEvent:
    return ClusterEvent(resource, action)


@pytest.mark.parametrize(
    ("registered", "incoming", "matches"),
    [
        (NODE_ADD, NODE_ADD, True),
        (NODE_ADD, NODE_LABEL, False),
        (NODE_LABEL, event(EventResource.POD, ActionType.UPDATE_POD_LABEL), False),
        (POD_ANY, ASSIGNED_POD_ADD, True),
        (POD_ANY, ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE), True),
        (ASSIGNED_POD_ADD, event(EventResource.POD, ActionType.ADD), False),
        (event(EventResource.NODE, ActionType.UPDATE), NODE_TAINT, True),
        # A general update is less specific than a registration for one kind of it.
        (NODE_TAINT, event(EventResource.NODE, ActionType.UPDATE), False),
        (
            event(EventResource.POD, ActionType.ADD | ActionType.UPDATE_POD_LABEL),
            ASSIGNED_POD_UPDATE,
            False,
        ),
        (event(EventResource.POD, ActionType.UPDATE), ASSIGNED_POD_UPDATE, True),
        (event(EventResource.WILD_CARD, ActionType.ADD), NODE_ADD, True),
        (WILD, NODE_ADD, True),
        (WILD, UNSCHEDULABLE_TIMEOUT, True),
        (POD_ANY, FORCE_ACTIVATE, False),
    ],
)
def test_match_cluster_events(
    registered: ClusterEvent, incoming: ClusterEvent, matches: bool
) -> None:
    assert match_cluster_events(registered, incoming) is matches


def test_registering_for_new_nodes_brings_changes_of_taints() -> None:
    hints = QueueingHints.of([Rejector("A", {NODE_ADD: SKIP}), Rejector("B", {NODE_LABEL: SKIP})])
    assert [r.plugin for r in hints.matching(NODE_TAINT)] == ["A"]
    queued = rejected_by("A")
    assert hints.ask(queued, NODE_TAINT, None, None) == (Hint("A", QUEUE),)
    assert hints.ask(queued, NODE_ADD, None, None) == (Hint("A", SKIP),)


def test_own_registration_for_taints_stands() -> None:
    both = event(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
    hints = QueueingHints.of([Rejector("A", {both: SKIP})])
    assert hints.ask(rejected_by("A"), NODE_TAINT, None, None) == (Hint("A", SKIP),)


class Silent:
    """A Reserve plugin that does not say which events it wants."""

    name = "Silent"

    def reserve(self, state: object, pod: PodInfo, node_name: str) -> None: ...

    def unreserve(self, state: object, pod: PodInfo, node_name: str) -> None: ...


class Scorer:
    """A plugin that cannot reject a pod."""

    name = "Scorer"

    def score(self) -> None: ...


def test_plugins_that_do_not_say_hear_of_everything() -> None:
    hints = QueueingHints.of([Silent(), Scorer()])
    assert hints.events_of("Silent") == [each.event for each in EVERY_RESOURCE]
    assert hints.events_of("Scorer") == []
    assert hints.ask(rejected_by("Silent"), ASSIGNED_POD_ADD, None, None) == (
        Hint("Silent", QUEUE),
    )


def test_extenders_hear_of_everything() -> None:
    assert QueueingHints.of([]).matching(NODE_ADD) == ()
    with_extenders = QueueingHints.of([], extenders=True)
    assert [r.plugin for r in with_extenders.matching(NODE_ADD)] == [EXTENDER_NAME]


def rejected_by(*plugins: str, pending: tuple[str, ...] = ()) -> QueuedPodInfo:
    return QueuedPodInfo(
        pod_info(make_pod("p")),
        START_NS,
        unschedulable_plugins=set(plugins),
        pending_plugins=set(pending),
    )


POD_LABEL = event(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_LABEL)
PLUGINS = [
    Rejector("Yes", {NODE_ADD: QUEUE, POD_ANY: QUEUE}),
    Rejector("No", {NODE_ADD: SKIP}),
    Rejector("Both", {NODE_ADD: SKIP, event(EventResource.NODE, ActionType.ALL): QUEUE}),
]


@pytest.mark.parametrize(
    ("queued", "incoming", "strategy", "hints"),
    [
        (rejected_by("Yes"), NODE_ADD, Strategy.AFTER_BACKOFF, {"Yes": QUEUE}),
        (rejected_by("No"), NODE_ADD, Strategy.SKIP, {"No": SKIP}),
        (rejected_by("No"), POD_LABEL, Strategy.SKIP, {}),
        (
            rejected_by("Yes", "No"),
            NODE_ADD,
            Strategy.AFTER_BACKOFF,
            {"Yes": QUEUE, "No": SKIP},
        ),
        (rejected_by("Both"), NODE_ADD, Strategy.AFTER_BACKOFF, {"Both": QUEUE}),
        (rejected_by(pending=("Yes",)), NODE_ADD, Strategy.IMMEDIATELY, {"Yes": QUEUE}),
        (rejected_by(pending=("No",)), NODE_ADD, Strategy.SKIP, {"No": SKIP}),
        (
            rejected_by("Yes", pending=("No",)),
            NODE_ADD,
            Strategy.AFTER_BACKOFF,
            {"Yes": QUEUE, "No": SKIP},
        ),
        (
            rejected_by("No", pending=("Yes",)),
            NODE_ADD,
            Strategy.IMMEDIATELY,
            {"Yes": QUEUE, "No": SKIP},
        ),
        (rejected_by("Absent"), NODE_ADD, Strategy.SKIP, {}),
        (rejected_by(), NODE_LABEL, Strategy.AFTER_BACKOFF, {}),
        (rejected_by("No"), UNSCHEDULABLE_TIMEOUT, Strategy.AFTER_BACKOFF, {}),
    ],
)
def test_worth_requeuing(
    queued: QueuedPodInfo,
    incoming: ClusterEvent,
    strategy: Strategy,
    hints: dict[str, QueueingHint],
) -> None:
    profiles = QueueProfiles({"default-scheduler": QueueProfile((), QueueingHints.of(PLUGINS))})
    worth = profiles.worth_requeuing(queued, incoming, None, None)
    assert worth.strategy is strategy
    assert {hint.plugin: hint.hint for hint in worth.hints} == hints


def test_a_pod_of_no_profile_is_requeued() -> None:
    worth = QueueProfiles({}).worth_requeuing(rejected_by("No"), NODE_ADD, None, None)
    assert worth.strategy is Strategy.AFTER_BACKOFF


@pytest.mark.parametrize(
    ("target", "strategy"),
    [
        (pod_info(make_pod("p")), Strategy.AFTER_BACKOFF),
        (pod_info(make_pod("other")), Strategy.SKIP),
        (None, Strategy.AFTER_BACKOFF),
    ],
)
def test_a_wild_card_may_be_for_one_pod(target: EventObject, strategy: Strategy) -> None:
    worth = QueueProfiles({}).worth_requeuing(rejected_by("No"), FORCE_ACTIVATE, None, target)
    assert worth.strategy is strategy


def test_only_rejectors_are_asked_and_given_what_changed() -> None:
    yes, other = Rejector("Yes", {NODE_ADD: QUEUE}), Rejector("Other", {NODE_ADD: QUEUE})
    old, new = pod_info(make_pod("old")), pod_info(make_pod("new"))
    QueueingHints.of([yes, other]).ask(rejected_by("Yes"), NODE_ADD, old, new)
    assert yes.asked == [("default/p", old, new)]
    assert other.asked == []


def test_waking_events_tell_what_a_pod_waits_for() -> None:
    gate = Gate("Gate", [POD_LABEL])
    profiles = QueueProfiles(
        {"default-scheduler": QueueProfile((gate,), QueueingHints.of([gate, *PLUGINS]))}
    )
    assert profiles.waking_events(rejected_by("No", pending=("Gate",))) == {
        "Gate": [POD_LABEL],
        "No": [NODE_ADD, NODE_TAINT],
    }


def test_events_of_one_profile_are_of_interest_to_the_queue() -> None:
    gate = Gate("Gate", [POD_LABEL])
    profiles = QueueProfiles(
        {
            "a": QueueProfile((), QueueingHints.of([Rejector("A", {NODE_ADD: SKIP})])),
            "b": QueueProfile((gate,), QueueingHints.of([gate])),
        }
    )
    assert profiles.is_of_interest(NODE_ADD)
    assert profiles.is_of_interest(POD_LABEL)
    assert profiles.is_of_interest(UNSCHEDULABLE_TIMEOUT)
    assert not profiles.is_of_interest(NODE_LABEL)
    assert profiles.opens_gate("Gate", POD_LABEL)
    assert not profiles.opens_gate("Gate", NODE_ADD)
    assert not profiles.opens_gate("A", POD_LABEL)
