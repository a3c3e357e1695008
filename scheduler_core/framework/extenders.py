"""What the algorithm and its plugins know of scheduler extenders; how they are called is not here.

Upstream: v1.36 kube-scheduler/framework/extender.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.trace.records import ExtenderVerb

EXTENDER: Final = "Extender"
"""Stands for all extenders among the plugins that reject a pod or score nodes."""


@dataclass(frozen=True, slots=True)
class ExtenderCall:
    """One call, for the trace: what was asked, what came back, what it did.

    `n_in` and `n_out` count nodes before and after, `removed` has the reasons of those that went
    ("" for without a word). `scores` are by node, each counting `weight` times. `status` is
    HTTP's, 0 without a reply. `ignored` says that the error was passed over; then nothing changed.
    """

    extender: str
    verb: ExtenderVerb
    pod: PodInfo
    n_in: int
    n_out: int
    duration_ns: int
    summary: str = ""
    error: str = ""
    status: int = 0
    response: str = ""
    ignored: bool = False
    removed: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, int] = field(default_factory=dict)
    weight: int = 0
    whole_nodes: bool = False
    n_request_bytes: int = 0
    n_response_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node where evicting `victims`, at least one, would make room."""

    node_name: str
    victims: tuple[PodInfo, ...]
    n_pdb_violations: int


@dataclass(frozen=True, slots=True)
class PreemptionAnswer:
    """The candidates that extenders leave, or an error; and the calls that led there."""

    candidates: tuple[Candidate, ...]
    calls: tuple[ExtenderCall, ...] = ()
    error: str = ""


class PreemptionExtenders(Protocol):
    """The extenders as preemption sees them."""

    def process_preemption(self, pod: PodInfo, candidates: Sequence[Candidate]) -> PreemptionAnswer:
        """Let interested extenders narrow the candidates, one after the other."""
