"""The queue under random operations, beside a plain model of what must be true of it."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    EventResource,
    QueueingHint,
)
from scheduler_core.queue.cluster_events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    NODE_DELETE,
)
from scheduler_core.queue.moves import Move, Via
from scheduler_core.queue.nominator import NOOP, OVERRIDE
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.trace.records import Nominating, Queue
from tests.builders import make_pod
from tests.effort import examples
from tests.queue.queue_world import Gate, Rejector, World, pod_info, sort_key, with_nomination

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
POD_ANY = ClusterEvent(EventResource.POD, ActionType.ALL)
POD_LABEL = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_LABEL)

NAMES = st.integers(0, 7).map(str)
EVENTS = st.sampled_from([NODE_ADD, NODE_DELETE, ASSIGNED_POD_ADD, ASSIGNED_POD_DELETE])
REJECTORS = st.sets(st.sampled_from(["Willing", "Stubborn"]), max_size=2)
NODES = st.sampled_from(["", "n1", "n2"])

PLACE_OF_QUEUE = {
    Queue.ACTIVE: "active",
    Queue.BACKOFF: "backoff",
    Queue.UNSCHEDULABLE: "unschedulable",
    Queue.GATED: "gated",
}


class QueueMachine(RuleBasedStateMachine):
    """Invariants: each pod is in one place and none is lost; ends of backoff never move back;
    pops follow the sort order; what was told adds up to where the pods are.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate("Gate", [NODE_ADD, POD_LABEL])
        self.world = World(
            Rejector("Willing", {NODE_ADD: QUEUE, POD_ANY: QUEUE}),
            Rejector("Stubborn", {NODE_ADD: SKIP, POD_ANY: SKIP}),
            self.gate,
            pop_early=self.pop_early,
        )
        self.pods: dict[str, PodInfo] = {}
        self.flying: dict[str, QueuedPodInfo] = {}
        self.backoff_ends: dict[tuple[str, str], tuple[int, int]] = {}
        self.told_place: dict[str, str] = {}
        self.n_heard = 0

    pop_early = True

    @rule(name=NAMES, priority=st.integers(0, 3), nominated=NODES, held=st.booleans())
    def add(self, name: str, priority: int, nominated: str, held: bool) -> None:
        pod = pod_info(make_pod(name).priority(priority).nominated(nominated))
        if pod.key in self.pods or pod.key in self.flying:
            return
        self.set_gate(name, held)
        self.pods[pod.key] = pod
        self.world.add(pod)

    @rule(name=NAMES, held=st.booleans())
    def set_gate(self, name: str, held: bool) -> None:
        (self.gate.held.add if held else self.gate.held.discard)(f"default/{name}")

    @rule(milliseconds=st.sampled_from([0, 1, 400, 999, 1000, 3000, 20_000, 301_000]))
    def pass_time(self, milliseconds: int) -> None:
        self.world.now_ns += milliseconds * 1_000_000

    @rule()
    def pop(self) -> None:
        queue = self.world.queue
        active = [queued.key for queued in queue.active_pods()]
        backoff = [q.key for q in queue.backoff_pods() if q.has_rejectors]
        popped = queue.pop()
        if popped is None:
            assert not active
            assert not (self.pop_early and backoff)
            return
        early = popped.source is Queue.BACKOFF
        assert early is (not active)
        assert popped.queued.key == (backoff if early else active)[0]
        self.flying[popped.queued.key] = popped.queued

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), rejectors=REJECTORS, pending=REJECTORS)
    def fail(self, data: st.DataObject, rejectors: set[str], pending: set[str]) -> None:
        key = data.draw(st.sampled_from(list(self.flying)))
        queued = self.flying.pop(key)
        if key not in self.pods:
            self.world.queue.done(queued.pod.uid)
            return
        before = (queued.unschedulable_count, queued.consecutive_errors_count)
        queued.pod = self.pods[key]
        self.world.fail(queued, *rejectors, pending=sorted(pending))
        after = (queued.unschedulable_count, queued.consecutive_errors_count)
        rejected = bool(rejectors or pending)
        assert after == ((before[0] + 1, 0) if rejected else (before[0], before[1] + 1))
        assert queued.timestamp_ns == self.world.now_ns

    @precondition(lambda self: self.flying)
    @rule(data=st.data())
    def bind(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(list(self.flying)))
        queued = self.flying.pop(key)
        pod = self.pods.pop(key, None)
        self.world.live.pop(key, None)
        self.world.queue.done(queued.pod.uid)
        if pod is not None:
            self.world.queue.delete(pod)

    @rule(name=NAMES, label=st.sampled_from(["x", "y"]), nominated=NODES)
    def update(self, name: str, label: str, nominated: str) -> None:
        old = self.pods.get(f"default/{name}")
        if old is None:
            return
        new = pod_info(make_pod(name).priority(old.priority).label("v", label).nominated(nominated))
        self.pods[new.key] = new
        self.world.live[new.key] = new.pod
        self.world.queue.update(old, new)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        pod = self.pods.pop(f"default/{name}", None)
        if pod is not None:
            self.world.live.pop(pod.key)
            self.world.queue.delete(pod)

    @rule(event=EVENTS, least=st.integers(-1, 2))
    def cluster_event(self, event: ClusterEvent, least: int) -> None:
        self.world.queue.move_all_to_active_or_backoff_queue(
            event, None, None, lambda pod: pod.priority > least
        )

    @rule(names=st.lists(NAMES, max_size=3))
    def activate(self, names: list[str]) -> None:
        self.world.queue.activate(pod_info(make_pod(name)) for name in names)

    @rule(name=NAMES, nominating=st.sampled_from([OVERRIDE, NOOP]), node_name=NODES)
    def nominate(self, name: str, nominating: Nominating, node_name: str) -> None:
        pod = self.pods.get(f"default/{name}") or with_nomination(pod_info(make_pod(name)), "n3")
        self.world.queue.nominator.add(pod, nominating, node_name)

    @rule()
    def flush_backoff(self) -> None:
        queue, now_ns = self.world.queue, self.world.now_ns
        due_ns = queue.next_backoff_flush_ns()
        before = len(queue.backoff_pods())
        queue.flush_backoff_completed()
        moved = before - len(queue.backoff_pods())
        if due_ns is None or now_ns < due_ns - 1_000_000_000:
            assert not moved
        elif now_ns >= due_ns:
            assert moved
        for queued in queue.backoff_pods():
            assert queue.backoff_until_ns(queued) >= now_ns - now_ns % 1_000_000_000

    @rule()
    def flush_leftover(self) -> None:
        queue = self.world.queue
        queue.flush_unschedulable_leftover()
        for queued in queue.unschedulable_pods():
            assert self.world.now_ns - queued.timestamp_ns <= 300_000_000_000

    @invariant()
    def every_pod_is_in_one_place(self) -> None:
        assert set(self.world.places()) == set(self.pods) | set(self.flying)

    @invariant()
    def pops_follow_the_sort_order(self) -> None:
        keys = [sort_key(queued) for queued in self.world.queue.active_pods()]
        assert keys == sorted(keys)
        queue = self.world.queue
        ends = [queue.backoff_until_ns(q) for q in queue.backoff_pods() if q.has_rejectors]
        assert ends == sorted(ends)

    @invariant()
    def ends_of_backoff_never_move_back(self) -> None:
        """As long as failures of one kind add up, each wait ends no earlier than the last."""
        for queued in self.world.queue.backoff_pods():
            until_ns = self.world.queue.backoff_until_ns(queued)
            n_errors = queued.consecutive_errors_count
            kind = "error" if n_errors else "rejected"
            count = n_errors or queued.unschedulable_count
            last_count, last_ns = self.backoff_ends.get((queued.key, kind), (0, -1))
            assert count < last_count or until_ns >= last_ns
            self.backoff_ends[queued.key, kind] = (count, until_ns)
        for name, kind in [each for each in self.backoff_ends if each[0] not in self.pods]:
            del self.backoff_ends[name, kind]

    @invariant()
    def the_gated_are_held_by_name(self) -> None:
        for queued in self.world.queue.gated_pods():
            assert queued.gating_plugin == "Gate"
            assert "Gate" in queued.unschedulable_plugins
        for queued in (*self.world.queue.active_pods(), *self.world.queue.backoff_pods()):
            assert not queued.gated

    @invariant()
    def what_was_told_is_where_the_pods_are(self) -> None:
        told, self.n_heard = self.world.told[self.n_heard :], len(self.world.told)
        for move in told:
            if isinstance(move, Move) and move.via is not Via.IN_FLIGHT_EVENT:
                self.told_place[move.pod.key] = PLACE_OF_QUEUE.get(move.queue, "")
        for key, place in self.world.places().items():
            if place != "in flight":
                assert self.told_place[key] == place

    @invariant()
    def only_pending_pods_are_nominated(self) -> None:
        nominations = self.world.queue.nominator.nominations()
        assert set(nominations) <= set(self.pods)
        assert all(nominations.values())

    @invariant()
    def events_are_kept_for_flights_only(self) -> None:
        assert {pod.key for pod in self.world.queue.in_flight_pods()} == set(self.flying)


class PatientQueueMachine(QueueMachine):
    """The same without feature gate SchedulerPopFromBackoffQ."""

    pop_early = False


TestQueue = QueueMachine.TestCase
TestQueue.settings = examples(60, stateful_step_count=60)
TestPatientQueue = PatientQueueMachine.TestCase
TestPatientQueue.settings = examples(40, stateful_step_count=60)
