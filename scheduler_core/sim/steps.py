"""Carrying out the steps of a scenario, and saying in words what was done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from scheduler_core.api import KubeObject, Node, OwnerReference, Pod
from scheduler_core.api.counting import POD, counted
from scheduler_core.api.selectors import find_untolerated_taint
from scheduler_core.changes.editing import (
    admitted,
    edited,
    edited_object,
    found,
    node_copies,
    replacement,
)
from scheduler_core.changes.node_changes import marked
from scheduler_core.changes.owners import (
    DAEMON_SET,
    HARD_EFFECTS,
    PINNED_KINDS,
    STATEFUL_SET,
    is_pinned,
    is_terminating,
    like,
    like_on_node,
    next_name,
    pods_of,
    surplus,
)
from scheduler_core.changes.refusals import NO_POD_TO_COPY, Refused, already_there
from scheduler_core.changes.sentences import sentence
from scheduler_core.changes.vocabulary import (
    CopyNode,
    Create,
    Delete,
    Drain,
    NodeChange,
    Patch,
    Put,
    Scale,
    SetField,
    StepChange,
)
from scheduler_core.cluster.pods import controller_of
from scheduler_core.sim.api_server import ApiServer, ConflictError, bound_to
from scheduler_core.sim.clock import VirtualClock
from scheduler_core.sim.eviction import pods_on, reason_of_drain
from scheduler_core.sim.scenario import Step
from scheduler_core.sim.simulation import Simulation
from scheduler_core.trace.events import ScenarioStepped
from scheduler_core.trace.tables import TERMINAL_PHASES
from scheduler_core.wording import capitalised, made_of, say, told

# What owners do about their pods: make them again when they go, make more, make fewer.
#
# A pod of the same owner serves as the template.
#
# Upstream: v1.36 pkg/controller/{replicaset,statefulset,daemon}, the part that affects names and
# numbers.

_WAITING_KINDS = (STATEFUL_SET, DAEMON_SET)
"""Owners that make a pod again only when the old one is gone."""

CreatePod = Callable[[Pod], str]
"""Create a pod; return why it was refused, empty if it was not."""


class Workloads:
    """The controllers of pods. With `recreate` a watcher that makes lost pods again."""

    def __init__(self, server: ApiServer, clock: VirtualClock, create: CreatePod) -> None:
        self._server = server
        self._clock = clock
        self._create = create
        self._n_names = 0
        self._retired: set[str] = set()

    # ------------------------------------------------------------ recreating

    def added(self, item: KubeObject) -> None:
        return None

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        """Replace a pod as soon as its deletion begins, but for owners that wait until it ends."""
        if isinstance(old, Pod) and isinstance(new, Pod):
            owner = controller_of(new)
            leaves = is_terminating(new) and not is_terminating(old)
            if owner is not None and leaves and owner.kind not in _WAITING_KINDS:
                self._replace(new)

    def deleted(self, item: KubeObject) -> None:
        if isinstance(item, Pod):
            owner = controller_of(item)
            waits = owner is not None and owner.kind in _WAITING_KINDS
            if waits or not is_terminating(item):
                self._replace(item)

    def _replace(self, pod: Pod) -> None:
        owner = controller_of(pod)
        if owner is None or not self._makes_again(owner, pod):
            return
        if pod.uid not in self._retired and pod.status.phase not in TERMINAL_PHASES:
            fresh = self._copy(pod, owner)
            self._clock.call_at(self._clock.now_ns(), lambda: self._create_unless_there(fresh))

    def _makes_again(self, owner: OwnerReference, pod: Pod) -> bool:
        if owner.kind not in PINNED_KINDS:
            return True
        node = self._server.get(Node, pod.spec.node_name)
        if owner.kind != DAEMON_SET or node is None:
            return False
        taints, tolerations = node.spec.taints, pod.spec.tolerations
        return find_untolerated_taint(taints, tolerations, HARD_EFFECTS) is None

    def _create_unless_there(self, pod: Pod) -> None:
        if self._server.get(Pod, pod.key) is None:
            self._create(pod)

    # ------------------------------------------------------------ scaling

    def add_pods(self, template: Pod, n: int) -> str:
        """Create `n` more pods like `template`; return why the first was refused, if it was."""
        owner = controller_of(template)
        for _ in range(n):
            refusal = self._create(self._copy(template, owner, another=True))
            if refusal:
                return refusal
        return ""

    def surplus(self, pods: list[Pod], n: int) -> list[Pod]:
        """Choose `n` pods to go, and see to it that nobody recreates them."""
        chosen = surplus(pods, n)
        self._retired.update(pod.uid for pod in chosen)
        return chosen

    # ------------------------------------------------------------ copies

    def _copy(self, pod: Pod, owner: OwnerReference | None, *, another: bool = False) -> Pod:
        """Return a pod of the same template, unbound, with a new name."""
        self._n_names += 1
        if owner is not None and owner.kind == STATEFUL_SET and not another:
            name = pod.name
        else:
            there = (
                pods_of(self._server, owner.kind, pod.namespace, owner.name)
                if owner is not None and owner.kind == STATEFUL_SET
                else []
            )
            name = next_name(pod, owner, there, self._n_names)
        uid = f"{pod.namespace}/{name}#{self._n_names}"
        if owner is not None and owner.kind == DAEMON_SET:
            return like_on_node(pod, name, pod.spec.node_name, uid)
        return like(pod, name, uid)


Work: TypeAlias = Callable[[], None]
_NotDrain: TypeAlias = Create | Put | Patch | SetField | Delete | NodeChange | CopyNode | Scale


class Steps:
    """Plays a scenario's steps in a simulated cluster.

    The text of a step comes before what it brings about. A step that cannot be carried out
    says why and changes nothing.
    """

    def __init__(self, simulation: Simulation, *, recreate_evicted: bool) -> None:
        self._simulation = simulation
        self._server = simulation.server
        self._workloads = Workloads(self._server, simulation.clock, self._create_pod)
        self._n_created: dict[tuple[str, str], int] = {}
        if recreate_evicted:
            self._server.watch(self._workloads)

    def play(self, index: int, step: Step) -> None:
        """Carry out one step now and write it into the trace."""
        simulation = self._simulation
        what, work = self._plan(step.action)
        noted = (
            say("step.noted", "{note} ({what})", note=step.note, what=what) if step.note else None
        )
        text = noted or capitalised(what)
        simulation.last_progress_ns = max(simulation.last_progress_ns, simulation.clock.now_ns())
        simulation.recorder.emit(
            ScenarioStepped(index, str(text), refused=work is None, said=made_of(text))
        )
        if work is not None:
            work()

    def _plan(self, change: StepChange) -> tuple[str, Work | None]:
        """Return what the change does in words, and the work itself; None if it is refused."""
        what = sentence(change, self._server)
        try:
            if isinstance(change, Drain):
                return self._draining(found(Node, change.node, self._server), what)
            return what, self._work_of(change)
        except Refused as refusal:
            return say("list.what_why", "{what}: {why}", what=what, why=told(refusal)), None

    def _work_of(self, change: _NotDrain) -> Work:
        """Return the work of a change that does what it says and no more. Raises Refused."""
        match change:
            case Create():
                return self._creating(list(change.items()))
            case Put(items):
                return self._putting(items)
            case Delete():
                return self._deleting(change)
            case CopyNode():
                return self._creating(list(node_copies(change, self._server)))
            case Scale():
                return self._scaling(change)
            case _:
                return self._editing(change)

    # ------------------------------------------------------------ objects

    def _creating(self, items: Sequence[KubeObject]) -> Work:
        for item in items:
            if self._server.get(type(item), item.key) is not None:
                raise already_there(item)
        admitted = [self._admitted(item) for item in items]

        def work() -> None:
            for item in admitted:
                self._create(item)

        return work

    def _putting(self, items: Sequence[KubeObject]) -> Work:
        pairs = [replacement(item, self._server) for item in items]

        def work() -> None:
            for old, new in pairs:
                if old is None:
                    self._create(new)
                else:
                    self._server.update(_by_binding(old, new))

        return work

    def _admitted(self, item: KubeObject) -> KubeObject:
        return admitted(item, self._server)

    def _create(self, item: KubeObject) -> None:
        """Create an object under a uid that no object had before."""
        identity = item.kind, item.key
        n = self._n_created[identity] = self._n_created.get(identity, 0) + 1
        if not item.uid:
            uid = item.key if n == 1 else f"{item.key}#{n}"
            item = replace(item, metadata=replace(item.metadata, uid=uid))
        self._server.create(item, self._simulation.clock.now_ns())

    def _create_pod(self, pod: Pod) -> str:
        """Create a pod for its owner; return why it is refused."""
        try:
            self._create(self._admitted(pod))
        except (Refused, ConflictError) as error:
            return str(error)
        return ""

    def _editing(self, change: Patch | SetField | NodeChange) -> Work:
        old = edited_object(change, self._server)
        new = edited(change, self._server)

        def work() -> None:
            if new is not old:
                self._server.update(_by_binding(old, new))

        return work

    def _deleting(self, change: Delete) -> Work:
        known = found(change.target.kind, change.target.key, self._server)

        def work() -> None:
            if isinstance(known, Pod):
                self._simulation.delete_pod(known, change.grace_seconds)
            else:
                self._simulation.delete_object(known)

        return work

    # ------------------------------------------------------------ nodes, workloads

    def _draining(self, node: Node, what: str) -> tuple[str, Work]:
        """Return what becomes of the pods of a node that is drained, and the work."""
        there = [
            pod
            for pod in pods_on(self._server, node.name)
            if pod.metadata.deletion_timestamp is None
        ]
        leaving = [pod for pod in there if not is_pinned(pod, self._server)]

        def work() -> None:
            cordoned = marked(node, True)
            if cordoned is not node:
                self._server.update(cordoned)
            for pod in leaving:
                self._simulation.evict(pod, reason_of_drain(node), "EvictionByEvictionAPI")

        pods, n_staying = counted(len(leaving), POD), len(there) - len(leaving)
        if not n_staying:
            return say("step.evict", "{what}: evict {pods}", what=what, pods=pods), work
        text = say(
            "step.evict_some",
            "{what}: evict {pods}; {n} of its pods stay",
            what=what,
            pods=pods,
            n=n_staying,
        )
        return text, work

    def _scaling(self, change: Scale) -> Work:
        pods = pods_of(self._server, change.kind, change.namespace, change.name)
        if not pods:
            raise Refused(NO_POD_TO_COPY)
        more = change.replicas - len(pods)

        def work() -> None:
            if more > 0:
                self._workloads.add_pods(pods[0], more)
                return
            for pod in self._workloads.surplus(pods, -more):
                self._simulation.delete_pod(pod)

        return work


def _by_binding(old: KubeObject, new: KubeObject) -> KubeObject:
    """Return the patched pod, bound as by another scheduler if the patch names its node."""
    if not isinstance(old, Pod) or not isinstance(new, Pod):
        return new
    binds = new.spec.node_name and not old.spec.node_name
    return bound_to(new, new.spec.node_name) if binds else new
