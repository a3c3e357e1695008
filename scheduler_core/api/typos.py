"""Slips in pods that would pass silently: read as written, they ask for something else."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from scheduler_core.api.coerce import Plain, fields_of, key_path
from scheduler_core.api.meta import ApiStruct
from scheduler_core.api.pod import Container, Pod, PodSpec
from scheduler_core.api.quantity import milli_value
from scheduler_core.wording import say

_OPERATORS = ("", "Equal", "Exists", "Lt", "Gt")
_SHOWN = 10


def slips_told(slips: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield a sentence for each slip, a pod, the path of a field and what is wrong; a few."""
    for pod, path, problem in list(slips)[:_SHOWN]:
        yield say("note.slip", "{pod}, {path}: {problem}", pod=pod, path=path, problem=problem)


def slips_of(pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield the paths of fields whose values are hardly meant, with what is wrong."""
    for index, toleration in enumerate(pod.spec.tolerations):
        if toleration.operator not in _OPERATORS:
            path = f"spec.tolerations[{index}].operator"
            yield path, _did_you_mean(toleration.operator, "Equal")
    for kind, containers in (
        ("containers", pod.spec.containers),
        ("initContainers", pod.spec.init_containers),
    ):
        for index, container in enumerate(containers):
            if container.resources is None:
                continue
            limits, requests = container.resources.limits, container.resources.requests
            for part, amounts in (("requests", requests), ("limits", limits)):
                for name, text in amounts.items():
                    if part == "requests" and limits.get(name) == text:
                        continue  # a request that is not given is the limit
                    if problem := _amount_slip(name, text):
                        path = f"spec.{kind}[{index}].resources.{part}{key_path(name)}"
                        yield path, problem


def misspelt_fields(source: Mapping[str, Plain]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a pod as written that are none, but nearly one that is read."""
    spec = source.get("spec")
    if not isinstance(spec, Mapping):
        return
    yield from _misspelt(spec, PodSpec, "spec")
    for kind in ("containers", "initContainers"):
        containers = spec.get(kind)
        for index, container in enumerate(containers if isinstance(containers, list) else ()):
            if isinstance(container, Mapping):
                yield from _misspelt(container, Container, f"spec.{kind}[{index}]")


def _misspelt(
    value: Mapping[str, Plain], cls: type[ApiStruct], path: str
) -> Iterator[tuple[str, str]]:
    names = {field.name.lower(): field.name for field in fields_of(cls)}
    for key in map(str, value):
        near = names.get(key.lower()) or names.get(f"{key.lower()}s")
        if near is not None and near != key:
            yield f"{path}{key_path(key)}", _did_you_mean(key, near)


@lru_cache(maxsize=65536)
def _amount_slip(name: str, text: str) -> str:
    milli = milli_value(text)
    if milli % 1000 == 0:
        return ""
    if name in ("memory", "ephemeral-storage") and text.endswith("m"):
        return say(
            "note.milli_bytes",
            '"{text}" is in thousandths of a byte; did you mean "{meant}"?',
            text=text,
            meant=f"{text[:-1]}Mi",
        )
    if "/" in name and "kubernetes.io/" not in name:
        return say(
            "note.part_of_device",
            '"{text}" is refused by an API server: {name} comes in whole numbers',
            text=text,
            name=name,
        )
    return ""


def _did_you_mean(text: str, meant: str) -> str:
    return say(
        "note.did_you_mean",
        '"{text}" is not known, so it does nothing; did you mean "{meant}"?',
        text=text,
        meant=meant,
    )
