"""Slips in pods that would pass silently: read as written, they ask for something else."""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache

from msgspec import Struct, inspect

from scheduler_core.api.absent_kinds import is_admitted
from scheduler_core.api.absent_pods import WATCHED
from scheduler_core.api.coerce import Plain, fields_of, key_path
from scheduler_core.api.meta import NodeSelectorRequirement, ObjectMeta
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Container, Pod, PodSpec
from scheduler_core.api.quantity import milli_value
from scheduler_core.api.types import KINDS
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
_CORE = ("Pod", "Node")
_LEADING = re.compile(r"[0-9.]+")
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
_MISPLACED: Mapping[tuple[type[Struct], str], str] = {
    (PodSpec, "nodeAffinity"): "affinity.nodeAffinity",
    (PodSpec, "podAffinity"): "affinity.podAffinity",
    (PodSpec, "podAntiAffinity"): "affinity.podAntiAffinity",
    (PodSpec, "requests"): "resources.requests",
    (PodSpec, "limits"): "resources.limits",
    (Container, "requests"): "resources.requests",
    (Container, "limits"): "resources.limits",
}
"""Fields that people write one level too high, and where they belong."""


def slips_told(slips: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield a sentence for each slip, a pod, the path of a field and what is wrong; a few."""
    for pod, path, problem in list(slips)[:_SHOWN]:
        yield say("note.slip", "{pod}, {path}: {problem}", pod=pod, path=path, problem=problem)


def slips_of(pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield the paths of fields whose values are hardly meant, with what is wrong."""
    if not _NAME.fullmatch(pod.name):
        yield "metadata.name", _refused(pod.name)
    yield from _tolerations_of(pod)
    yield from _operators_of(pod)
    for kind, containers in (
        ("containers", pod.spec.containers),
        ("initContainers", pod.spec.init_containers),
    ):
        for index, container in enumerate(containers):
            if container.resources is None:
                continue
            limits, requests = container.resources.limits, container.resources.requests
            if not is_admitted(pod):
                for name, problem in _limit_slips(requests, limits):
                    yield f"spec.{kind}[{index}].resources.limits{key_path(name)}", problem
            for part, amounts in (("requests", requests), ("limits", limits)):
                for name, text in amounts.items():
                    if part == "requests" and limits.get(name) == text:
                        continue  # a request that is not given is the limit
                    if problem := _resource_slip(name) or _amount_slip(name, text):
                        path = f"spec.{kind}[{index}].resources.{part}{key_path(name)}"
                        yield path, problem


def _tolerations_of(pod: Pod) -> Iterator[tuple[str, str]]:
    for index, toleration in enumerate(pod.spec.tolerations):
        if toleration.operator not in _OPERATORS:
            path = f"spec.tolerations[{index}].operator"
            meant = _near(toleration.operator, _OPERATORS[1:]) or "Equal"
            yield path, _refused(toleration.operator, meant)
        if toleration.operator == "Exists" and toleration.value:
            path = f"spec.tolerations[{index}].value"
            yield (
                path,
                say(
                    "note.value_with_exists",
                    '"{text}" is refused by an API server: operator Exists takes no value',
                    text=toleration.value,
                ),
            )
        if toleration.effect not in _EFFECTS:
            path = f"spec.tolerations[{index}].effect"
            meant = _near(toleration.effect, _EFFECTS[1:]) or "NoSchedule"
            yield path, _refused(toleration.effect, meant)


def _limit_slips(
    requests: Mapping[str, str], limits: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the resources whose request and limit an API server refuses together."""
    for name, text in requests.items():
        limit = limits.get(name)
        if _is_of_device(name) and limit is None:
            yield (
                name,
                say(
                    "note.no_limit",
                    "an API server refuses {name} as a request alone: write it as a limit",
                    name=name,
                ),
            )
        elif limit is not None and _is_refused(name, milli_value(text), milli_value(limit)):
            yield (
                name,
                say(
                    "note.below_request",
                    '"{limit}" is refused by an API server: the request is {text}',
                    limit=limit,
                    text=text,
                ),
            )


def _is_refused(name: str, requested: int, limit: int) -> bool:
    return requested != limit if _is_of_device(name) else requested > limit


def resource_slips(pods: Iterable[Pod], nodes: Iterable[Node]) -> Iterator[tuple[str, str, str]]:
    """Yield the resources that pods ask for and that no node has, but nearly.

    Each with its pod, path and what is wrong.
    """
    known = dict.fromkeys(name for node in nodes for name in node.status.allocatable)
    for pod in pods:
        for index, container in enumerate(pod.spec.containers if not pod.spec.node_name else ()):
            for name in container.resources.limits if container.resources else ():
                meant = "" if name in known or "/" not in name else _near(name, tuple(known))
                if meant:
                    problem = say(
                        "note.resource_meant",
                        'no node has the resource "{name}"; did you mean "{meant}"?',
                        name=name,
                        meant=meant,
                    )
                    path = f"spec.containers[{index}].resources.limits{key_path(name)}"
                    yield pod.key, path, problem


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
                meant_by[key] = _near(key, tuple(known), _NEAR_LABEL)
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
    for path, expression in _expressions_of(pod):
        yield f"{path}.key", expression.key
    for index, each in enumerate(pod.spec.topology_spread_constraints):
        yield f"spec.topologySpreadConstraints[{index}].topologyKey", each.topology_key


def _operators_of(pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield operators of node affinity that are none: such a term matches no node."""
    for path, each in _expressions_of(pod):
        if each.operator not in _OF_SELECTORS:
            meant = _near(each.operator, _OF_SELECTORS) or "In"
            yield f"{path}.operator", _refused(each.operator, meant)


def _expressions_of(pod: Pod) -> Iterator[tuple[str, NodeSelectorRequirement]]:
    """Yield what a pod requires of labels of its node, each with its path."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    for index, term in enumerate(required.node_selector_terms if required else ()):
        for at, each in enumerate(term.match_expressions):
            yield (
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
                f".nodeSelectorTerms[{index}].matchExpressions[{at}]",
                each,
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
        if (cls, key) in _MISPLACED:
            yield f"{path}{key_path(key)}", _did_you_mean(key, _MISPLACED[cls, key])
            continue
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
def _near(key: str, names: tuple[str, ...], least: float = _NEAR) -> str:
    """The field that is meant: of other capitals, short of letters, or with a letter wrong."""
    by_lower = {name.lower(): name for name in names}
    found = get_close_matches(key.lower(), by_lower, 1, least)
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
    if name == "cpu" and milli >= _MANY_CORES * 1000 and (found := _LEADING.match(text)):
        return say(
            "note.so_many_cores",
            '"{text}" is {n:,} cores; did you mean "{meant}"?',
            text=text,
            n=milli // 1000,
            meant=found[0] + ("m" if text.endswith("M") else ""),
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
    if _is_of_device(name):
        return say(
            "note.part_of_device",
            '"{text}" is refused by an API server: {name} comes in whole numbers',
            text=text,
            name=name,
        )
    return ""


def _is_of_device(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name


def kind_slips(kinds: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each kind that was not read and is nearly one that would be."""
    known = {kind.lower(): kind for kind in (*KINDS, *WATCHED)}
    for kind in kinds:
        name, _, group = kind.partition(".")
        meant = known.get(name.lower()) or known.get(name.lower().removesuffix("s"))
        if meant == name and name in KINDS and name in _CORE and group:
            yield say(
                "note.kind_of_group",
                'kind "{kind}" of {group} is not known, so it is not read; {kind} is of {version}',
                kind=name,
                group=group,
                version=KINDS[name].api_version,
            )
        elif meant is not None and meant != name and not group:
            yield say(
                "note.kind_meant",
                'kind "{kind}" is not known, so it is not read; did you mean "{meant}"?',
                kind=name,
                meant=meant,
            )


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
