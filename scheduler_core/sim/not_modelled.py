"""What an input asks for and the engine does not do, in words for every screen of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scheduler_core.api import KubeObject
from scheduler_core.api.findings import not_modelled
from scheduler_core.config.types import Extender
from scheduler_core.devices.cel import unknown_functions
from scheduler_core.devices.device_selection import expressions_of


def inputs_not_modelled(
    objects: Sequence[KubeObject],
    ignored: Mapping[str, int],
    uncalled: Iterable[Extender],
    left_out: Iterable[str] = (),
) -> Iterator[str]:
    """Name what is not done of a cluster and its extenders.

    `ignored` counts the objects that were not read by kind; `uncalled` are the extenders of the
    configuration that nobody calls; `left_out` says what of the cluster could not be read.
    """
    yield from left_out
    yield from not_modelled(objects, ignored)
    yield from _selectors_not_modelled(objects)
    yield from (f"the extender {each.url_prefix} was not called" for each in uncalled)


def _selectors_not_modelled(objects: Iterable[KubeObject]) -> Iterator[str]:
    """Name what CEL selectors of devices call that kviz lacks."""
    functions = {
        name
        for item in objects
        for expression in expressions_of(item)
        for name in unknown_functions(expression)
    }
    if functions:
        what = "CEL functions of device selectors"
        yield f"{what}: {', '.join(sorted(functions))}; such a selector ends in an error"
