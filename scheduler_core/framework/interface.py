"""The extension points a plugin may attach to, as protocols.

A plugin is an object with a `name` and some of the methods below; it implements an extension
point by having its method. What its answers depend on it declares (`dependence.py`).
Filter and Score speak for *all nodes they are given at once*:
`nodes` is a view of `n` nodes (see `cluster.nodes.Nodes`) and every array returned aligns with
it. A view may hold any nodes in any order, also hypothetical ones (pods added or removed, see
`Nodes.what_if`), so a plugin must read counts of pods through the view, never keep them itself.

What PreFilter or PreScore prepares is a typed value of the plugin's own; the runtime hands it
back unchanged for the rest of the cycle. It must be treated as frozen.

A status is a value; an exception out of a plugin is a bug.

Upstream: v1.36 kube-scheduler/framework/interface.go. AddPod/RemovePod of upstream's PreFilter
extensions have no counterpart: hypothetical views replace them (docs/adr).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from inspect import get_annotations
from typing import Generic, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from scheduler_core.api import DeviceRequestAllocationResult
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.diagnosis import Verdicts
from scheduler_core.framework.events import ClusterEventWithHint
from scheduler_core.framework.signatures import Signed
from scheduler_core.framework.status import Status, Verdict
from scheduler_core.trace.records import Nominating

Scores = npt.NDArray[np.int64]

MAX_NODE_SCORE = 100
MIN_NODE_SCORE = 0

P = TypeVar("P", bound="Plugin")
S_co = TypeVar("S_co", covariant=True)
S_contra = TypeVar("S_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Prepared(Generic[S_co]):
    """PreFilter or PreScore succeeded: `state` comes back in the later calls of this cycle.

    `node_names` (PreFilter only) narrows the cycle to those nodes; None means all. `skip`
    (PreFilter only) is SKIP with a state: Filter takes no part, the later points do. With a
    `rejection` (PreFilter only) the pod is turned away, and only PostFilter gets the state.
    """

    state: S_co
    node_names: frozenset[str] | None = None
    skip: bool = False
    rejection: Status | None = None


@runtime_checkable
class Plugin(Protocol):
    @property
    def name(self) -> str: ...


@runtime_checkable
class TakesOver(Plugin, Protocol):
    """A plugin that caches much, and can go on with what another instance has cached."""

    def take_over(self, other: object) -> None:
        """Take over from a plugin of the same class and arguments, in a cluster before a copy."""

    def take_back(self, other: object) -> None:
        """Take over from a plugin in a copy of this one's cluster that has gone on by itself.

        Only what holds in this one's, which has not changed since the copy was taken.
        """


@runtime_checkable
class PreEnqueuePlugin(Plugin, Protocol):
    def pre_enqueue(self, pod: PodInfo) -> Status: ...


class Queued(Protocol):
    """What a queue sort may look at."""

    @property
    def pod(self) -> PodInfo: ...
    @property
    def timestamp_ns(self) -> int: ...


@runtime_checkable
class QueueSortPlugin(Plugin, Protocol):
    def sort_key(self, queued: Queued) -> tuple[int, ...]:
        """Return a key whose ascending order is the order of scheduling (upstream: Less)."""


@runtime_checkable
class EnqueueExtensions(Plugin, Protocol):
    def events_to_register(self) -> Sequence[ClusterEventWithHint]: ...


@runtime_checkable
class SignPlugin(Plugin, Protocol):
    def sign_pod(self, pod: PodInfo) -> Signed:
        """Return what of the pod this plugin looks at, None if its place hangs on other pods.

        Without this method of every plugin that filters or scores, no pod has a signature.
        """


@runtime_checkable
class PreFilterPlugin(Plugin, Protocol):
    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[object] | Status:
        """Prepare the cycle, or return SUCCESS, SKIP, a rejection or an error.

        `nodes` are all nodes.
        """


@runtime_checkable
class FilterPlugin(Plugin, Protocol[S_contra]):
    def filter(self, state: S_contra, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Accept or reject each node; `state` is None for a plugin without PreFilter."""


@runtime_checkable
class PostFilterPlugin(Plugin, Protocol[S_contra]):
    def post_filter(
        self, state: S_contra, pod: PodInfo, statuses: NodeToStatus, refilter: Refilter
    ) -> PostFilterOutcome:
        """Try to make room after no node was feasible.

        `refilter` runs the cycle's Filter plugins over any (hypothetical) view, twice where
        nominated pods count.
        """


@runtime_checkable
class PreScorePlugin(Plugin, Protocol):
    def pre_score(self, state: object, pod: PodInfo, nodes: Nodes) -> Prepared[object] | Status:
        """Prepare scoring of the feasible `nodes`; `state` is PreFilter's (None if none)."""


@runtime_checkable
class ScorePlugin(Plugin, Protocol[S_contra]):
    def score(self, state: S_contra, pod: PodInfo, nodes: Nodes) -> Scores:
        """Return raw scores int64 (n,).

        `state` is PreScore's, PreFilter's for a plugin without PreScore, None if there is none.
        """


@runtime_checkable
class NeedsPreScore(Plugin, Protocol):
    """A Score plugin that a profile may not use without its PreScore."""

    no_pre_score: str
    """What Score fails with in every cycle of a profile that leaves the plugin's PreScore out."""


@runtime_checkable
class NormalizeScorePlugin(Plugin, Protocol[S_contra]):
    def normalize_score(
        self, state: S_contra, pod: PodInfo, nodes: Nodes, scores: Scores
    ) -> Scores:
        """Map raw scores (n,) onto 0..100, int64 (n,)."""


@runtime_checkable
class ReservePlugin(Plugin, Protocol[S_contra]):
    def reserve(self, state: S_contra, pod: PodInfo, node_name: str) -> Status:
        """Claim what binding will need; `state` is PreFilter's."""

    def unreserve(self, state: S_contra, pod: PodInfo, node_name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ClaimDevices:
    """The devices of one of a pod's claims on the node that was picked."""

    claim: str
    results: Sequence[DeviceRequestAllocationResult]
    allocated_before: bool


class HoldsDevices(ABC):
    """A PreFilter state that knows after Reserve which devices the pod gets."""

    __slots__ = ()

    @abstractmethod
    def devices(self) -> Sequence[ClaimDevices]: ...


class NotesInFilter(ABC):
    """A PreFilter state in which Filter notes what later extension points read."""

    __slots__ = ()

    @abstractmethod
    def aside(self) -> object:
        """Return a copy of the state whose notes nobody reads."""


@dataclass(frozen=True, slots=True)
class PermitOutcome:
    """Permit's status; with code WAIT the pod waits at most `timeout_ns`."""

    status: Status
    timeout_ns: int = 0


@runtime_checkable
class PermitPlugin(Plugin, Protocol[S_contra]):
    def permit(self, state: S_contra, pod: PodInfo, node_name: str) -> PermitOutcome: ...


@runtime_checkable
class PreBindPreFlightPlugin(Plugin, Protocol[S_contra]):
    def pre_bind_pre_flight(self, state: S_contra, pod: PodInfo, node_name: str) -> Status:
        """Return whether PreBind will have work for the pod: SUCCESS, SKIP or an error.

        A PreBind plugin without this method always has.
        """


@runtime_checkable
class PreBindPlugin(Plugin, Protocol[S_contra]):
    def pre_bind(self, state: S_contra, pod: PodInfo, node_name: str) -> Status: ...


@runtime_checkable
class BindPlugin(Plugin, Protocol[S_contra]):
    def bind(self, state: S_contra, pod: PodInfo, node_name: str) -> Status: ...


@runtime_checkable
class PostBindPlugin(Plugin, Protocol[S_contra]):
    def post_bind(self, state: S_contra, pod: PodInfo, node_name: str) -> None: ...


class NodeToStatus(Protocol):
    """Why each node was rejected in this cycle (upstream: NodeToStatusReader)."""

    def status(self, node_name: str) -> Status:
        """Return the node's status, or the status of all nodes not looked at."""

    def nodes_with(self, code: int) -> Nodes:
        """Return the nodes with that code, in node order."""


@dataclass(frozen=True, slots=True)
class PostFilterOutcome:
    """PostFilter's status, and what becomes of the pod's nomination.

    With `nominating` `override` an empty `node_name` clears it.
    """

    status: Status
    nominating: Nominating = ""
    node_name: str = ""
    victims: Sequence[PodInfo] = ()
    report: object = None
    """How the outcome came about, for the trace; a typed value of the plugin's own."""


class Refilter(Protocol):
    """Runs the cycle's Filter plugins over a view, twice where nominated pods count."""

    @property
    def is_node_local(self) -> bool:
        """Return whether a node's verdict stays the same as long as the node and its pods do."""

    def __call__(self, nodes: Nodes) -> Verdicts: ...


def implements(plugin: Plugin, protocol: type[P]) -> TypeGuard[P]:
    """Return whether a plugin has the methods of an extension point, as `isinstance` would say.

    Before Python 3.12 that looks the protocol's members up anew each time: most of what it took to
    make a profile's framework.
    """
    names = _members(protocol)
    return all(hasattr(plugin, name) and getattr(plugin, name) is not None for name in names)


@cache
def _members(protocol: type) -> tuple[str, ...]:
    names = (name for base in protocol.__mro__ for name in (*vars(base), *get_annotations(base)))
    return tuple(dict.fromkeys(name for name in names if not name.startswith("_")))
