"""What an input asks for and the engine does not do, in words for every screen of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scheduler_core.api import KubeObject, ResourceSlice
from scheduler_core.api.findings import not_modelled
from scheduler_core.config.defaults import FILTER_TIMEOUT_NS
from scheduler_core.config.duration import format_duration
from scheduler_core.config.features import FeatureGates
from scheduler_core.config.types import (
    DynamicResourcesArgs,
    Extender,
    KubeSchedulerConfiguration,
)
from scheduler_core.devices.cel import unknown_functions
from scheduler_core.devices.device_selection import expressions_of
from scheduler_core.sim.crashes import panics
from scheduler_core.wording import say, series


def inputs_not_modelled(
    objects: Sequence[KubeObject],
    ignored: Mapping[str, int],
    uncalled: Iterable[Extender],
    left_out: Iterable[str],
    configuration: KubeSchedulerConfiguration,
    features: FeatureGates,
) -> Iterator[str]:
    """Name what is not done of a cluster and its extenders.

    `ignored` counts the objects that were not read by kind; `uncalled` are the extenders of the
    configuration that nobody calls; `left_out` says what of the cluster could not be read. First
    comes what the real scheduler of the release does not survive.
    """
    yield from panics(objects, configuration, features)
    yield from left_out
    yield from not_modelled(objects, ignored)
    yield from _selectors_not_modelled(objects)
    if any(isinstance(item, ResourceSlice) for item in objects):
        yield from _timeouts_not_modelled(configuration)
    yield from (
        say("note.extender_not_called", "the extender {url} was not called", url=each.url_prefix)
        for each in uncalled
    )


def _timeouts_not_modelled(configuration: KubeSchedulerConfiguration) -> Iterator[str]:
    """Name a limit of wall time that was set: there is no wall time (docs/adr/0025)."""
    timeouts_ns = {
        each.args.filter_timeout_ns
        for profile in configuration.profiles
        for each in profile.plugin_config
        if isinstance(each.args, DynamicResourcesArgs) and each.args.filter_timeout_ns is not None
    }
    for timeout_ns in sorted(timeouts_ns - {FILTER_TIMEOUT_NS}):
        yield say(
            "note.filter_timeout",
            "filterTimeout {timeout} of DynamicResources: the search for devices ends after so "
            "many candidates, whatever the time",
            timeout=format_duration(timeout_ns),
        )


def _selectors_not_modelled(objects: Iterable[KubeObject]) -> Iterator[str]:
    """Name what CEL selectors of devices call that kviz lacks."""
    functions = {
        name
        for item in objects
        for expression in expressions_of(item)
        for name in unknown_functions(expression)
    }
    if functions:
        yield say(
            "note.cel_functions",
            "CEL functions of device selectors: {functions}; such a selector ends in an error",
            functions=series(sorted(functions)),
        )
