"""Slips in pods that would pass silently: read as written, they ask for something else."""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache

from msgspec import Struct, inspect

from scheduler_core.api.coerce import Plain, fields_of, key_path
from scheduler_core.api.meta import ObjectMeta
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod, PodSpec
from scheduler_core.api.quantity import milli_value
from scheduler_core.wording import say

_OPERATORS = ("", "Equal", "Exists", "Lt", "Gt")
_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")
_OF_SELECTORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_ALSO_CALLED = {"mem": "memory", "ram": "memory", "storage": "ephemeral-storage", "cpus": "cpu"}
_NEAR = 0.82
_NEAR_LABEL = 0.9
_FEW_BYTES = 1 << 20
"""No container runs with less memory."""
_MANY_CORES = 500
_SHOWN = 20
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_NOT_READ = frozenset(
    (
        "activeDeadlineSeconds",
        "allowPrivilegeEscalation",
        "args",
        "automountServiceAccountToken",
        "command",
        "containerPort",
        "dnsConfig",
        "dnsPolicy",
        "enableServiceLinks",
        "env",
        "envFrom",
        "ephemeralContainers",
        "generateName",
        "hostAliases",
        "hostIPC",
        "hostPID",
        "hostUsers",
        "hostname",
        "hostnameOverride",
        "image",
        "imagePullPolicy",
        "imagePullSecrets",
        "lifecycle",
        "livenessProbe",
        "managedFields",
        "os",
        "readOnly",
        "readinessGates",
        "readinessProbe",
        "resizePolicy",
        "restartPolicyRules",
        "runtimeClassName",
        "secretName",
        "securityContext",
        "selfLink",
        "serviceAccount",
        "serviceAccountName",
        "setHostnameAsFQDN",
        "shareProcessNamespace",
        "startupProbe",
        "stdin",
        "stdinOnce",
        "subdomain",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "tty",
        "volumeDevices",
        "volumeMounts",
        "workingDir",
    )
)
"""Fields of pods that scheduling does not read."""


def slips_told(slips: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield a sentence for each slip, a pod, the path of a field and what is wrong; a few."""
    for pod, path, problem in list(slips)[:_SHOWN]:
        yield say("note.slip", "{pod}, {path}: {problem}", pod=pod, path=path, problem=problem)


def slips_of(pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield the paths of fields whose values are hardly meant, with what is wrong."""
    if not _NAME.fullmatch(pod.name):
        yield "metadata.name", _refused(pod.name)
    for index, toleration in enumerate(pod.spec.tolerations):
        if toleration.operator not in _OPERATORS:
            path = f"spec.tolerations[{index}].operator"
            meant = _near(toleration.operator, _OPERATORS[1:]) or "Equal"
            yield path, _refused(toleration.operator, meant)
        if toleration.effect not in _EFFECTS:
            path = f"spec.tolerations[{index}].effect"
            meant = _near(toleration.effect, _EFFECTS[1:]) or "NoSchedule"
            yield path, _refused(toleration.effect, meant)
    yield from _operators_of(pod)
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
                    if problem := _resource_slip(name) or _amount_slip(name, text):
                        path = f"spec.{kind}[{index}].resources.{part}{key_path(name)}"
                        yield path, problem


def label_slips(pods: Iterable[Pod], nodes: Iterable[Node]) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of labels that pods without a node ask for and that no node has, but nearly.

    Each with its pod, path and what is wrong.
    """
    known = dict.fromkeys(key for node in nodes for key in node.metadata.labels)
    meant_by: dict[str, str] = {}
    for pod in pods:
        if pod.spec.node_name:
            continue
        for path, key in _keys_of(pod):
            if key in known:
                continue
            if key not in meant_by:
                meant_by[key] = "".join(get_close_matches(key, known, 1, _NEAR_LABEL))
            if meant := meant_by[key]:
                problem = say(
                    "note.label_meant",
                    'no node has the label "{key}"; did you mean "{meant}"?',
                    key=key,
                    meant=meant,
                )
                yield pod.key, path, problem


def _keys_of(pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield where a pod names labels of nodes."""
    for key in pod.spec.node_selector:
        yield f"spec.nodeSelector{key_path(key)}", key
    for index, each in enumerate(pod.spec.topology_spread_constraints):
        yield f"spec.topologySpreadConstraints[{index}].topologyKey", each.topology_key


def _operators_of(pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield operators of node affinity that are none: such a term matches no node."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    for index, term in enumerate(required.node_selector_terms if required else ()):
        for at, each in enumerate(term.match_expressions):
            if each.operator not in _OF_SELECTORS:
                yield (
                    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
                    f".nodeSelectorTerms[{index}].matchExpressions[{at}].operator",
                    _refused(each.operator, _near(each.operator, _OF_SELECTORS) or "In"),
                )


def _resource_slip(name: str) -> str:
    """What is wrong with a resource whose name has no domain; empty if it is a known one."""
    if "/" in name or name in _RESOURCES or name.startswith(("hugepages-", "attachable-")):
        return ""
    if meant := _ALSO_CALLED.get(name.lower(), "") or _near(name, _RESOURCES):
        return _did_you_mean(name, meant)
    return say(
        "note.resource_without_domain",
        '"{name}" is refused by an API server: a resource of a device has a domain, such as '
        "nvidia.com/gpu",
        name=name,
    )


def misspelt_fields(source: Mapping[str, Plain]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a pod as written that are none, but nearly one that is read."""
    yield from _misspelt(source.get("metadata"), ObjectMeta, "metadata")
    yield from _misspelt(source.get("spec"), PodSpec, "spec")


def _misspelt(value: Plain, cls: type[Struct], path: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping):
        return
    fields = {field.name: field.type for field in fields_of(cls)}
    for key in map(str, value):
        near = "" if key in fields or key in _NOT_READ else _near(key, tuple(fields))
        if near:
            yield f"{path}{key_path(key)}", _did_you_mean(key, near)
    for name, wanted in fields.items():
        yield from _below(value.get(name), wanted, f"{path}.{name}")


def _below(value: Plain, wanted: inspect.Type, path: str) -> Iterator[tuple[str, str]]:
    match wanted:
        case inspect.StructType(cls=cls):
            yield from _misspelt(value, cls, path)
        case inspect.UnionType(types=types):
            for each in types:
                yield from _below(value, each, path)
        case inspect.VarTupleType(item_type=item_type) if isinstance(value, list):
            for index, item in enumerate(value):
                yield from _below(item, item_type, f"{path}[{index}]")
        case _:
            return


@lru_cache(maxsize=1024)
def _near(key: str, names: tuple[str, ...]) -> str:
    """The field that is meant: of other capitals, short of letters, or with a letter wrong."""
    by_lower = {name.lower(): name for name in names}
    found = get_close_matches(key.lower(), by_lower, 1, _NEAR)
    return by_lower[found[0]] if found else _ALSO_CALLED.get(key.lower(), "")


@lru_cache(maxsize=65536)
def _amount_slip(name: str, text: str) -> str:
    milli = milli_value(text)
    if text.isdigit() and name == "memory" and 0 < milli < _FEW_BYTES * 1000:
        return say(
            "note.few_bytes",
            '"{text}" is in bytes; did you mean "{meant}"?',
            text=text,
            meant=f"{text}Mi",
        )
    if text.isdigit() and name == "cpu" and milli >= _MANY_CORES * 1000:
        return say(
            "note.many_cores",
            '"{text}" is in whole cores; did you mean "{meant}"?',
            text=text,
            meant=f"{text}m",
        )
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


def _refused(text: str, meant: str = "") -> str:
    if not meant:
        return say(
            "note.name_refused",
            '"{text}" is refused by an API server: names have small letters, digits, "-" and "."',
            text=text,
        )
    return say(
        "note.operator",
        '"{text}" is refused by an API server; did you mean "{meant}"?',
        text=text,
        meant=meant,
    )
