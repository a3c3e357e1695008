"""Which of the differences at the start brought it about that two runs part where they do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import msgspec

from scheduler_core.analysis.compare.inputs import DRAWS, Inputs, Objects, Setting
from scheduler_core.analysis.compare.parting import Parting
from scheduler_core.config import KubeSchedulerConfiguration
from scheduler_core.wording import say, series

UNSET = say("diff.not_set", "not set")


def argument_settings(
    a: KubeSchedulerConfiguration, b: KubeSchedulerConfiguration
) -> list[Setting]:
    """Return the arguments of plugins that differ, by profile, plugin and field.

    A trace does not hold them. Profiles and plugins that only one of the two has are left to the
    settings that it does hold.
    """
    values_a, values_b = _arguments(a), _arguments(b)
    both = values_a.keys() & values_b.keys()
    return [
        Setting(f"{scheduler} {plugin} {path}", first.get(path, UNSET), second.get(path, UNSET))
        for scheduler, plugin in sorted(both)
        for first, second in [(values_a[scheduler, plugin], values_b[scheduler, plugin])]
        for path in dict.fromkeys([*first, *second])
        if first.get(path, UNSET) != second.get(path, UNSET)
    ]


def _arguments(
    configuration: KubeSchedulerConfiguration,
) -> dict[tuple[str, str], dict[str, str]]:
    """Return by scheduler and plugin the values of its arguments by path."""
    return {
        (profile.scheduler_name, each.name): dict(_flat("", msgspec.to_builtins(each.args)))
        for profile in configuration.profiles
        for each in profile.plugin_config
    }


def _flat(path: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _flat(f"{path}.{name}" if path else str(name), inner)
    else:
        yield path, value if isinstance(value, str) else json.dumps(value)


def causes(parting: Parting | None, inputs: Inputs, changes: Sequence[str]) -> list[str]:
    """Return in sentences what was different and has to do with where two runs part.

    Everything before was decided the same, so something that went in brought it about. `changes`
    are what made one run of the other, in words, if that is known: a single one is the cause.
    Of several differences those are given that name the plugin, the node or the pod. If none does,
    it is the release where that differs, for it may bear on anything; else it is not known which it
    was, and the list is empty.
    """
    if parting is None:
        return []
    if len(changes) == 1:
        return list(changes)
    every = list(_every(inputs))
    if len(every) == 1:
        return [text for _, text in every]
    named = _names_in(parting)
    about = [text for name, text in every if named & set(name.replace("/", " ").split(" "))]
    return about or [text for name, text in every if name == "release"]


def _names_in(parting: Parting) -> set[str]:
    """Return what a difference may be about to have to do with this one."""
    found = parting.difference
    names = {found.plugin, found.node, parting.pod.replace("/", ":")} - {""}
    if found.what == "pod":
        tried = (str(value).partition(",")[0] for value in (found.a, found.b))
        names |= {"queueOrder", *(pod.replace("/", ":") for pod in tried)}
    return names | DRAWS if found.luck else names


def _every(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Yield all differences: a name, its words parted by blanks or slashes, and the sentence."""
    for each in inputs.settings:
        yield (
            each.name,
            say(
                "diff.values",
                "{name}: {a} in A, {b} in B",
                name=each.name,
                a=each.a or UNSET,
                b=each.b or UNSET,
            ),
        )
    yield from _of_objects("node", inputs.nodes)
    yield from _of_objects("pod", inputs.pods)


def _of_objects(kind: str, objects: Objects) -> Iterator[tuple[str, str]]:
    for run, names in (("A", objects.only_a), ("B", objects.only_b)):
        for name in names:
            yield (
                name.replace("/", ":"),
                say("diff.only_in", "{name} is only in {run}", name=f"{kind} {name}", run=run),
            )
    for each in objects.changed:
        differs = say(
            "diff.differs",
            "{name} differs: {what}",
            name=f"{kind} {each.name}",
            what=series(each.what),
        )
        yield each.name.replace("/", ":"), differs
