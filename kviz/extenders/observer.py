"""What a real scheduler's calls to its extender reveal, as the events of a trace.

Pure: no database. A call names the pod being scheduled, the nodes that passed the filters, and the
victims of each preemption candidate. It does not say which plugin rejected a node, any score, or
which node was chosen in the end. What is unknown is not in the trace; a later call may reveal it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec.structs import replace

from kviz.extenders.incoming import Exchange, Verb
from scheduler_core import ENGINE_VERSION
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.errors import ParseError, Place
from scheduler_core.api.parse import decode
from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.sim.world_trace import WorldTrace
from scheduler_core.trace.events import (
    AnyEvent,
    Bound,
    ClockAdvanced,
    CycleFinished,
    CycleStarted,
    ExtenderCalled,
    FilterColumns,
    FilterFinished,
    HeaderEvent,
    NodeAdded,
    NominationChanged,
    PodAdded,
    PreemptionDryRun,
    PreemptionStarted,
    ResourcesDefined,
    RunStarted,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import (
    NONE,
    CandidateRecord,
    Column,
    ProfileRecord,
    Queue,
    Result,
    StatusRecord,
)
from scheduler_core.wording import say

MAX_CALLS: Final = 20_000
MAX_NODES: Final = 20_000
MAX_PODS: Final = 200_000
"""A session that knows more is over, and says so."""

ORDER: Final = (Verb.FILTER, Verb.PRIORITIZE, Verb.PREEMPT)
"""In which a scheduler calls during one attempt; it may leave some out."""
SETTLE_S: Final = 0.3
"""An attempt of which nothing more is expected is over after so long without a call."""
SCORING_S: Final = 30.0
"""Where prioritize is still to come: other extenders may each take their time before it."""
ANSWERS: Final[Mapping[Verb, str]] = {
    Verb.FILTER: "keeps every node",
    Verb.PRIORITIZE: "scores every node 0",
    Verb.PREEMPT: "keeps every candidate and victim",
}
PASSED: Final = StatusRecord("Success")
EXTENDER: Final = "kviz"
NAMESPACE_UNKNOWN: Final = "?"
"""Of a victim of which only the uid is known."""
HTTP_OK: Final = 200


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """One call: when it came (nanoseconds since the epoch), and how long it was in kviz.

    From the arrival of the request to the end of the answer: the network and what the scheduler
    does with it before and after are not known here.
    """

    at_ns: int
    verb: Verb
    exchange: Exchange
    duration_ns: int = 0


@dataclass(slots=True)
class _Attempt:
    """The attempt in progress, with its calls so far."""

    pod: int
    verb: Verb
    n_nodes: int
    """Nodes that passed the filters; 0 while that is unknown."""
    n_calls: int = 0


@dataclass(slots=True)
class _PodState:
    """What is known of a pod; -1 for no node."""

    attempts: int = 0
    node: int = NONE
    nominated: int = NONE


@dataclass
class Observer:
    """Turns calls into events; begin it or resume it first."""

    _events: list[AnyEvent] = field(default_factory=list)
    _pods: dict[int, _PodState] = field(default_factory=dict)
    _cycle: int = 0
    _n_calls: int = 0
    _now_ns: int = 0
    _attempt: _Attempt | None = None
    _previous: _Attempt | None = None
    _condition: str = ""

    def __post_init__(self) -> None:
        self._recorder = Recorder(self._emit)
        cache = Cache(ClusterColumns())
        self._world = WorldTrace(self._recorder, cache)

    def _emit(self, event: AnyEvent) -> None:
        if isinstance(event, PodAdded):
            event = replace(event, uid=next(reversed(self._recorder.pods)))
            self._pods[event.pod] = _PodState(0, event.node, event.nominated_node)
        self._events.append(event)

    # ------------------------------------------------------------ the beginning

    def begin(self, now_ns: int, objects: Iterable[KubeObject]) -> None:
        """Emit what a snapshot of the cluster knows: its nodes, and the pods on them, pods last."""
        self._now_ns = now_ns
        profiles = (ProfileRecord("", ()),)
        self._emit(RunStarted(ENGINE_VERSION, 0, now_ns, (), profiles, (), observed=True))
        for item in objects:
            if isinstance(item, Node):
                self._world.added(item)
            elif (
                isinstance(item, Pod)
                and item.spec.node_name
                and item.uid not in self._recorder.pods
            ):
                self._node(item.spec.node_name)
                self._add_pod(item)

    def resume(self, event: HeaderEvent) -> None:
        """Take in an event that an earlier observer emitted."""
        recorder = self._recorder
        match event:
            case RunStarted() | ClockAdvanced():
                self._now_ns = event.now_ns
            case ResourcesDefined():
                for name in event.names:
                    recorder.resources[name] = len(recorder.resources)
            case NodeAdded():
                recorder.nodes[event.name] = event.node
            case PodAdded():
                recorder.pods[event.uid] = event.pod
                self._pods[event.pod] = _PodState(0, event.node, event.nominated_node)
            case CycleStarted():
                self._cycle = event.cycle
                self._pods[event.pod].attempts = event.attempt
            case Bound():
                self._pods[event.pod].node = event.node
            case NominationChanged():
                self._pods[event.pod].nominated = event.node
            case ExtenderCalled():
                self._n_calls += 1
            case _:
                pass

    # ------------------------------------------------------------ calls

    @property
    def too_much(self) -> str:
        """Why the session has to end here; empty while it may go on."""
        if self._n_calls >= MAX_CALLS:
            return say("session.most_calls", "a live session holds at most {n} calls", n=MAX_CALLS)
        if len(self._recorder.nodes) >= MAX_NODES:
            return say("session.most_nodes", "a live session holds at most {n} nodes", n=MAX_NODES)
        if len(self._recorder.pods) >= MAX_PODS:
            return say("session.most_pods", "a live session holds at most {n} pods", n=MAX_PODS)
        return ""

    @property
    def n_open(self) -> int:
        """How many calls the latest attempt has, if there may be more to come; else 0."""
        return self._attempt.n_calls if self._attempt else 0

    @property
    def patience_s(self) -> float:
        """How long a further call of the latest attempt may take to come.

        After prioritize and preempt there is none. A scheduler scores as soon as two nodes are
        left, so that prioritize follows then, unless the attempt fails in between.
        """
        attempt = self._attempt
        if attempt is None or attempt.verb is not Verb.FILTER:
            return 0.0
        return SCORING_S if attempt.n_nodes > 1 else SETTLE_S

    def take(self, call: ObservedCall) -> None:
        """Emit what a call reveals."""
        exchange, verb = call.exchange, call.verb
        pod = self._recorder.pods.get(exchange.pod_key, NONE)
        running = self._attempt
        if running and (running.pod != pod or ORDER.index(verb) <= ORDER.index(running.verb)):
            self.close()
        self._advance(call.at_ns)
        nodes = Column.narrow(np.array([self._node(name) for name in exchange.nodes], np.int64))
        pod = self._pod_of(exchange)
        begins = self._attempt is None
        if begins:
            self._start(pod, verb)
        if verb is Verb.PREEMPT:
            self._would_evict(exchange)
        elif begins:
            self._passed(exchange.n_nodes, nodes)
        self._call(pod, call)
        self._n_calls += 1

    @property
    def recorder(self) -> Recorder:
        """The numbers of this run."""
        return self._recorder

    def fill(self, event: HeaderEvent) -> None:
        """Emit what a followed cluster told, in this run's numbers, unless it is known already.

        Only between two attempts.
        """
        assert self._attempt is None
        match event:
            case ClockAdvanced():
                self._advance(event.now_ns)
                return
            case Bound():
                if self._pods[event.pod].node == event.node:
                    return
                self._pods[event.pod].node = event.node
            case NominationChanged():
                if self._pods[event.pod].nominated == event.node:
                    return
                self._pods[event.pod].nominated = event.node
            case _:
                pass
        self._emit(event)

    def close(self) -> None:
        """End the attempt: its outcome is unknown to an extender."""
        if self._attempt is not None:
            self._emit(CycleFinished(self._cycle, Result.UNKNOWN, NONE))
            self._previous, self._attempt = self._attempt, None

    def drain(self) -> list[AnyEvent]:
        """Hand over the events of whole attempts; an unfinished one has none yet."""
        end = len(self._events)
        if self._attempt is not None:
            end = next(i for i in reversed(range(end)) if _starts(self._events[i]))
        ready, self._events = self._events[:end], self._events[end:]
        return ready

    def _advance(self, at_ns: int) -> None:
        """Move the clock; it never goes back, though that of the machine may."""
        if at_ns > self._now_ns:
            self._now_ns = at_ns
            self._emit(ClockAdvanced(at_ns))

    def _start(self, pod: int, verb: Verb) -> None:
        """Begin a cycle. A late call to prioritize belongs to the attempt before."""
        before, state = self._previous, self._pods[pod]
        if verb is not Verb.PRIORITIZE or before is None or before.pod != pod:
            state.attempts += 1
        self._cycle += 1
        n_nodes = len(self._recorder.nodes)
        self._emit(CycleStarted(self._cycle, pod, state.attempts, 0, Queue.NOWHERE, 0, n_nodes))
        self._attempt = _Attempt(pod, verb, 0)

    def _passed(self, n_nodes: int, nodes: Column) -> None:
        """Emit which nodes passed; what rejected the others is unknown."""
        assert self._attempt is not None
        self._attempt.n_nodes = n_nodes
        self._emit(FilterFinished(NONE, n_nodes, NONE, ()))
        verdicts = Column.narrow(np.zeros(len(nodes.array()), np.int64))
        self._emit(FilterColumns((PASSED,), verdicts, nodes, nodes))

    # ------------------------------------------------------------ nodes and pods

    def _node(self, name: str) -> int:
        """Return a node's number; of one that no snapshot knows, the name is all there is."""
        if name not in self._recorder.nodes:
            self._emit(NodeAdded(self._recorder.node(name), name, "", {}, (), False, ()))
        return self._recorder.nodes[name]

    def _pod_of(self, exchange: Exchange) -> int:
        """Return the number of the pod being scheduled, and emit what its object says by now."""
        pod = _parsed(exchange)
        self._condition = _condition(pod)
        nominated = pod.status.nominated_node_name if pod else ""
        node = self._node(nominated) if nominated else NONE
        if exchange.pod_key not in self._recorder.pods:
            if pod is None:
                namespace, _, name = exchange.pod.partition("/")
                self._bare_pod(exchange.pod_key, namespace, name, NONE)
            else:
                self._add_pod(pod)
        number = self._recorder.pods[exchange.pod_key]
        if self._pods[number].nominated != node:
            self._pods[number].nominated = node
            self._emit(NominationChanged(number, node))
        return number

    def _add_pod(self, pod: Pod) -> None:
        self._world.added(pod)

    def _bare_pod(self, uid: str, namespace: str, name: str, node: int) -> None:
        self._emit(PodAdded(self._recorder.pod(uid), namespace, name, "", 0, (), "", node))

    # ------------------------------------------------------------ preemption

    def _would_evict(self, exchange: Exchange) -> None:
        """Emit the candidates. That a victim is on its node is learned in passing."""
        assert self._attempt is not None
        if not self._attempt.n_nodes:
            self._passed(0, Column("u1", b""))
        candidates = []
        for name, each in exchange.victims.items():
            node = self._recorder.nodes[name]
            victims = tuple(self._victim(uid, key, node) for uid, key in each.pods)
            record = CandidateRecord(node, (), (), victims, each.n_pdb_violations, PASSED)
            candidates.append(record)
        self._emit(PreemptionStarted(NONE, NONE, NONE))
        self._emit(PreemptionDryRun(tuple(candidates)))

    def _victim(self, uid: str, key: str, node: int) -> int:
        if uid not in self._recorder.pods:
            namespace, _, name = key.rpartition("/")
            self._bare_pod(uid, namespace or NAMESPACE_UNKNOWN, name, node)
        pod = self._recorder.pods[uid]
        if self._pods[pod].node == NONE:
            self._pods[pod].node = node
            self._emit(Bound(pod, node))
        return pod

    # ------------------------------------------------------------ the call itself

    def _call(self, pod: int, call: ObservedCall) -> None:
        exchange, attempt = call.exchange, self._attempt
        assert attempt is not None
        self._emit(
            ExtenderCalled(
                extender=EXTENDER,
                verb=call.verb.value,
                n_nodes_in=exchange.n_nodes,
                n_nodes_out=exchange.n_nodes,
                duration_ns=call.duration_ns,
                summary="; ".join(self._effects(call, attempt)),
                pod=pod,
                status=HTTP_OK,
                whole_nodes=exchange.whole_nodes,
                n_request_bytes=exchange.n_bytes,
                n_response_bytes=len(exchange.answer),
            )
        )
        attempt.verb = call.verb
        attempt.n_calls += 1

    def _effects(self, call: ObservedCall, attempt: _Attempt) -> Iterator[str]:
        """Say what kviz answered, and what else the call reveals."""
        exchange, n_passed = call.exchange, attempt.n_nodes
        yield ANSWERS[call.verb]
        if call.verb is Verb.PRIORITIZE and exchange.n_nodes < n_passed:
            gone = n_passed - exchange.n_nodes
            yield f"{gone} of {n_passed} nodes are missing: another extender dropped them"
        if len(exchange.nodes) < exchange.n_nodes:
            yield f"of {exchange.n_nodes} names {len(exchange.nodes)} were recorded"
        if attempt.verb is call.verb and self._condition:
            yield f"before this attempt the pod's status said: {self._condition}"


def _starts(event: AnyEvent) -> bool:
    return isinstance(event, CycleStarted)


def _condition(pod: Pod | None) -> str:
    """Return what the scheduler wrote about an earlier attempt, if anything."""
    conditions = pod.status.conditions if pod else ()
    return next((c.message for c in conditions if c.type == "PodScheduled"), "")


def _parsed(exchange: Exchange) -> Pod | None:
    """Read the fields of a pod that kviz keeps, without secrets; None if it cannot be read."""
    if not exchange.pod_json:
        return None
    try:
        pod = decode(exchange.pod_json, Pod, Place("", 0))
    except ParseError:
        return None
    if not isinstance(pod, Pod):
        return None
    metadata = replace(pod.metadata, uid=exchange.pod_key)
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=""))
