"""The states nodes can be in as to resources, numbered.

What a node has and what its pods take of it is its *resource state*. The nodes of a cluster
share few of them, and a pod of one template leads from one state always to the same other. So
whoever looks at resources alone need judge each state only once (`framework/kept.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from scheduler_core.cluster.pods import PodInfo, PodTemplate

Amounts = tuple[tuple[str, int], ...]
"""Amounts by resource, sorted, without those that are zero."""


class ResourceState(NamedTuple):
    """What a node has, pods among it, and what the pods on it request."""

    allocatable: Amounts = ()
    requested: Amounts = ()
    nonzero_cpu_milli: int = 0
    nonzero_memory_bytes: int = 0
    n_pods: int = 0

    def after(self, template: PodTemplate, sign: int) -> ResourceState:
        """Return the state with a pod of the template more (`sign` 1) or less (-1)."""
        requests, total = template.requests, dict(self.requested)
        for name, amount in requests.placed.items():
            total[name] = total.get(name, 0) + sign * amount
        return self._replace(
            requested=amounts(total),
            nonzero_cpu_milli=self.nonzero_cpu_milli + sign * requests.nonzero_cpu_milli,
            nonzero_memory_bytes=self.nonzero_memory_bytes + sign * requests.nonzero_memory_bytes,
            n_pods=self.n_pods + sign,
        )


NOTHING = ResourceState()
"""The state of a row without node and pods; its number is 0."""


def amounts(resources: Mapping[str, int]) -> Amounts:
    return tuple(sorted((name, amount) for name, amount in resources.items() if amount))


class ResourceStates:
    """States by number, and where pods lead from each."""

    def __init__(self, states: Iterable[ResourceState] = (NOTHING,)) -> None:
        self._states = list(states)
        self._numbers = {state: number for number, state in enumerate(self._states)}
        self._after: dict[tuple[int, int, int], int] = {}

    def __len__(self) -> int:
        return len(self._states)

    def __getitem__(self, number: int) -> ResourceState:
        return self._states[number]

    def of_node(self, number: int, allocatable: Mapping[str, int]) -> int:
        """Return the state with other resources to give and the same pods."""
        return self._number(self._states[number]._replace(allocatable=amounts(allocatable)))

    def after(self, number: int, template: PodTemplate, sign: int) -> int:
        """Return the state with a pod of the template more (`sign` 1) or less (-1)."""
        step = number, template.index, sign
        found = self._after.get(step)
        if found is None:
            found = self._after[step] = self._number(self._states[number].after(template, sign))
        return found

    def with_change(self, number: int, added: Sequence[PodInfo], removed: Sequence[PodInfo]) -> int:
        """Return the state with some pods more and some less."""
        for pod in removed:
            number = self.after(number, pod.template, -1)
        for pod in added:
            number = self.after(number, pod.template, 1)
        return number

    def only(self, numbers: Iterable[int]) -> ResourceStates:
        """Return a new numbering of some states: in the order given, from 0 on."""
        return ResourceStates(self._states[number] for number in numbers)

    def _number(self, state: ResourceState) -> int:
        found = self._numbers.get(state)
        if found is None:
            found = self._numbers[state] = len(self._states)
            self._states.append(state)
        return found
