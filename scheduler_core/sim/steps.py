"""Carrying out the steps of a scenario, and saying in words what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from scheduler_core.api import KubeObject, Node, Pod, PriorityClass, Taint
from scheduler_core.api.errors import FieldError
from scheduler_core.api.priority import PriorityClasses, UnknownPriorityClassError
from scheduler_core.sim.admission import admit
from scheduler_core.sim.api_server import ConflictError, bound_to
from scheduler_core.sim.eviction import pods_on
from scheduler_core.sim.merge_patch import merge_patch
from scheduler_core.sim.scenario import (
    AddTaint,
    Cordon,
    Create,
    Delete,
    Drain,
    Patch,
    RemoveTaint,
    Scale,
    Step,
)
from scheduler_core.sim.simulation import Simulation
from scheduler_core.sim.workloads import Workloads, is_pinned
from scheduler_core.trace.events import ScenarioStepped

K = TypeVar("K", bound=KubeObject)

N_NAMED = 3
"""So many objects are named in a step's text; more are counted."""


class Refused(Exception):
    """A step cannot be carried out in the cluster as it is; the message says why."""


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
        text, work = self._plan(step)
        if step.note:
            text = f"{step.note} ({text})"
        simulation.last_progress_ns = max(simulation.last_progress_ns, simulation.clock.now_ns())
        simulation.recorder.emit(ScenarioStepped(index, text, refused=work is None))
        if work is not None:
            work()

    def _plan(self, step: Step) -> tuple[str, Callable[[], None] | None]:
        """Return what the step does in words, and the work itself; None if it is refused."""
        try:
            return self._plan_action(step)
        except Refused as refusal:
            return str(refusal), None

    def _plan_action(self, step: Step) -> tuple[str, Callable[[], None]]:
        action = step.action
        match action:
            case Create():
                return self._plan_create(action)
            case Patch():
                return self._plan_patch(action)
            case Delete():
                return self._plan_delete(action)
            case Cordon():
                return self._plan_cordon(action)
            case Drain():
                return self._plan_drain(action)
            case AddTaint():
                return self._plan_add_taint(action)
            case RemoveTaint():
                return self._plan_remove_taint(action)
            case Scale():
                return self._plan_scale(action)

    # ------------------------------------------------------------ objects

    def _plan_create(self, action: Create) -> tuple[str, Callable[[], None]]:
        items = list(action.items())
        for item in items:
            if self._server.get(type(item), item.key) is not None:
                raise Refused(f'Create {_named(item)}: refused, "{item.name}" already exists')
        admitted = [self._admitted(item) for item in items]

        def work() -> None:
            for item in admitted:
                self._create(item)

        return f"Create {_listed(items)}", work

    def _admitted(self, item: KubeObject) -> KubeObject:
        """Return the object as the API server's admission would let it in. Raises Refused."""
        if not isinstance(item, Pod):
            return item
        try:
            classes = PriorityClasses(self._server.all(PriorityClass))
            return classes.resolve(admit(item))
        except UnknownPriorityClassError as error:
            raise Refused(f"Create {_named(item)}: forbidden, {error}") from None

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

    def _plan_patch(self, action: Patch) -> tuple[str, Callable[[], None]]:
        target = action.target
        text = f"Patch {target}"
        known = self._found(target.kind, target.key, text)
        try:
            patched = merge_patch(known, action.merge)
        except (FieldError, msgspec.ValidationError) as error:
            raise Refused(f"{text}: refused, {error}") from None
        if reason := _why_immutable(known, patched):
            raise Refused(f"{text}: refused, {reason}")
        if isinstance(known, Pod) and isinstance(patched, Pod):
            patched = _by_binding(known, patched)

        def work() -> None:
            self._server.update(patched)

        return f"{text}: {', '.join(_changed(action.merge))}", work

    def _plan_delete(self, action: Delete) -> tuple[str, Callable[[], None]]:
        text = f"Delete {action.target}"
        known = self._found(action.target.kind, action.target.key, text)

        def work() -> None:
            if isinstance(known, Pod):
                self._simulation.delete_pod(known, action.grace_seconds)
            else:
                self._simulation.delete_object(known)

        return text, work

    def _found(self, kind: type[K], key: str, text: str) -> K:
        known = self._server.get(kind, key)
        if known is None:
            raise Refused(f"{text}: there is none")
        return known

    # ------------------------------------------------------------ nodes

    def _plan_cordon(self, action: Cordon) -> tuple[str, Callable[[], None]]:
        text = f"{'Cordon' if action.unschedulable else 'Uncordon'} Node {action.node}"
        node = self._found(Node, action.node, text)
        return text, lambda: self._mark(node, action.unschedulable)

    def _mark(self, node: Node, unschedulable: bool) -> None:
        if node.spec.unschedulable != unschedulable:
            spec = replace(node.spec, unschedulable=unschedulable)
            self._server.update(replace(node, spec=spec))

    def _plan_drain(self, action: Drain) -> tuple[str, Callable[[], None]]:
        text = f"Drain Node {action.node}"
        node = self._found(Node, action.node, text)
        there = [
            pod
            for pod in pods_on(self._server, action.node)
            if pod.metadata.deletion_timestamp is None
        ]
        leaving = [pod for pod in there if not is_pinned(pod, self._server)]

        def work() -> None:
            self._mark(node, True)
            for pod in leaving:
                self._simulation.evict(pod, f"drain of {action.node}", "EvictionByEvictionAPI")

        staying = len(there) - len(leaving)
        rest = f"; {staying} of its own stay" if staying else ""
        return f"{text}: evict {_counted(len(leaving), 'pod')}{rest}", work

    def _plan_add_taint(self, action: AddTaint) -> tuple[str, Callable[[], None]]:
        taint = action.taint
        value = f"={taint.value}" if taint.value else ""
        text = f"Taint Node {action.node} {taint.key}{value}:{taint.effect}"
        node = self._found(Node, action.node, text)
        others = [
            known
            for known in node.spec.taints
            if (known.key, known.effect) != (taint.key, taint.effect)
        ]
        return text, lambda: self._set_taints(node, (*others, taint))

    def _plan_remove_taint(self, action: RemoveTaint) -> tuple[str, Callable[[], None]]:
        effect = f":{action.effect}" if action.effect else ""
        text = f"Untaint Node {action.node} {action.key}{effect}"
        node = self._found(Node, action.node, text)
        remaining = [
            known
            for known in node.spec.taints
            if known.key != action.key or (action.effect and known.effect != action.effect)
        ]
        if len(remaining) == len(node.spec.taints):
            raise Refused(f"{text}: there is no such taint")
        return text, lambda: self._set_taints(node, remaining)

    def _set_taints(self, node: Node, taints: Iterable[Taint]) -> None:
        spec = replace(node.spec, taints=tuple(taints))
        self._server.update(replace(node, spec=spec))

    # ------------------------------------------------------------ workloads

    def _plan_scale(self, action: Scale) -> tuple[str, Callable[[], None]]:
        text = f"Scale {action.kind} {action.namespace}/{action.name}"
        pods = self._workloads.pods_of(action.kind, action.namespace, action.name)
        if not pods:
            raise Refused(f"{text}: it has no pod to copy")
        text += f" from {len(pods)} to {action.replicas}"
        more = action.replicas - len(pods)

        def work() -> None:
            if more > 0:
                self._workloads.add_pods(pods[0], more)
                return
            for pod in self._workloads.surplus(pods, -more):
                self._simulation.delete_pod(pod)

        return text, work


def _by_binding(old: Pod, new: Pod) -> Pod:
    """Return the patched pod, bound as by another scheduler if the patch names its node."""
    binds = new.spec.node_name and not old.spec.node_name
    return bound_to(new, new.spec.node_name) if binds else new


def _why_immutable(old: KubeObject, new: KubeObject) -> str:
    """Return which field of the object a patch must not change, empty if it does not."""
    was, now = old.metadata, new.metadata
    if (was.name, was.namespace, was.uid) != (now.name, now.namespace, now.uid):
        return "metadata.name, namespace and uid cannot change"
    if was.deletion_timestamp != now.deletion_timestamp:
        return "metadata.deletionTimestamp cannot be set: use delete"
    if isinstance(old, Pod) and isinstance(new, Pod):
        bound = old.spec.node_name
        if bound and new.spec.node_name != bound:
            return f"the pod is bound to {bound}"
        if new.spec.scheduler_name != old.spec.scheduler_name:
            return "spec.schedulerName cannot change"
    return ""


def _changed(merge: dict[str, object], path: str = "") -> Iterator[str]:
    """Name the fields a patch touches, the deepest maps it goes into."""
    for name, value in merge.items():
        at = f"{path}.{name}" if path else name
        if isinstance(value, dict) and value:
            yield from _changed(value, at)
        else:
            yield at


def _listed(items: list[KubeObject]) -> str:
    if len(items) <= N_NAMED:
        return ", ".join(map(_named, items))
    counts: dict[str, int] = {}
    for item in items:
        counts[item.kind] = counts.get(item.kind, 0) + 1
    return ", ".join(_counted(n, kind) for kind, n in counts.items())


def _named(item: KubeObject) -> str:
    return f"{item.kind} {item.key}"


def _counted(n: int, what: str) -> str:
    plural = f"{what}es" if what.endswith("ss") else f"{what}s"
    return f"{n} {what if n == 1 else plural}"
