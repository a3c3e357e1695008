"""The states nodes can be in as to resources, numbered.

What a node has and what its pods take of it is its *resource state*. The nodes of a cluster
share few of them, and a pod of one template leads from one state always to the same other. So
a plugin that reads only resources need evaluate each state only once (`framework/memo.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from scheduler_core.cluster.pods import PodInfo, PodTemplate
from scheduler_core.cluster.requests import PodRequests

Amounts = tuple[int, ...]
"""Amounts by number of the resource, without zeros at the end."""


class ResourceState(NamedTuple):
    """What a node has, pods among it, and what the pods on it request."""

    allocatable: Amounts = ()
    requested: Amounts = ()
    nonzero_cpu_milli: int = 0
    nonzero_memory_bytes: int = 0
    n_pods: int = 0


NOTHING = ResourceState()
"""The state of a row without node and pods; its number is 0."""


class ResourceStates:
    """States by number, and where pods lead from each."""

    def __init__(
        self, states: Iterable[ResourceState] = (NOTHING,), resources: Iterable[str] = ()
    ) -> None:
        self._states = list(states)
        self._numbers = {state: number for number, state in enumerate(self._states)}
        self._resources = {name: number for number, name in enumerate(resources)}
        self._after: dict[tuple[int, int, int], int] = {}

    def fork(self) -> ResourceStates:
        """Return an independent copy with the same numbers."""
        fork = ResourceStates(())
        fork._states, fork._numbers = self._states[:], self._numbers.copy()
        fork._resources, fork._after = self._resources.copy(), self._after.copy()
        return fork

    def __len__(self) -> int:
        return len(self._states)

    def __getitem__(self, number: int) -> ResourceState:
        return self._states[number]

    def of_node(self, number: int, allocatable: Mapping[str, int]) -> int:
        """Return the state with other resources to give and the same pods."""
        amounts = self._total((), allocatable, 1)
        return self._number(self._states[number]._replace(allocatable=amounts))

    def after(self, number: int, template: PodTemplate, sign: int) -> int:
        """Return the state with a pod of the template more (`sign` 1) or less (-1)."""
        step = number, template.index, sign
        found = self._after.get(step)
        if found is None:
            found = self._after[step] = self._number(self._step(number, template.requests, sign))
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
        return ResourceStates([self._states[number] for number in numbers], self._resources)

    def _step(self, number: int, requests: PodRequests, sign: int) -> ResourceState:
        allocatable, requested, cpu_milli, memory_bytes, n_pods = self._states[number]
        return ResourceState(
            allocatable,
            self._total(requested, requests.placed, sign),
            cpu_milli + sign * requests.nonzero_cpu_milli,
            memory_bytes + sign * requests.nonzero_memory_bytes,
            n_pods + sign,
        )

    def _total(self, amounts: Amounts, more: Mapping[str, int], sign: int) -> Amounts:
        total = list(amounts)
        for name, amount in more.items():
            at = self._resources.setdefault(name, len(self._resources))
            total += [0] * (at + 1 - len(total))
            total[at] += sign * amount
        while total and not total[-1]:
            total.pop()
        return tuple(total)

    def _number(self, state: ResourceState) -> int:
        found = self._numbers.get(state)
        if found is None:
            found = self._numbers[state] = len(self._states)
            self._states.append(state)
        return found
