"""The configuration of a cluster's scheduler, from a ConfigMap: a guess, and its origin.

A scheduler reads a file; no API tells which. Some clusters keep that file in a ConfigMap, and
kubeadm keeps there with which arguments it starts the scheduler. A ConfigMap is asked for by its
name, as listing them would show all the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from kviz.clusters.reading.problems import ClusterProblem
from scheduler_core.config import ConfigError, FeatureGates, load_configuration

KUBEADM: Final = "kube-system/kubeadm-config"
NAMES: Final = (
    "kube-system/kube-scheduler",
    "kube-system/kube-scheduler-config",
    "kube-system/scheduler-config",
    "openshift-kube-scheduler/config",
    KUBEADM,
)
"""Where it may be: the names of installers and of upstream's pages."""
KIND: Final = "KubeSchedulerConfiguration"


class Getter(Protocol):
    """What is asked of a connection."""

    def get(self, path: str) -> bytes: ...


class NoConfiguration(ClusterProblem):
    """The ConfigMap that was named has no configuration of a scheduler."""


@dataclass(frozen=True)
class GuessedConfig:
    """A KubeSchedulerConfiguration, empty if none was found, and a sentence about its origin."""

    text: str = ""
    origin: str = ""


class _ConfigMap(msgspec.Struct):
    data: dict[str, str] | None = None


_CONFIG_MAP: Final = msgspec.json.Decoder(_ConfigMap)


def guess_config(connection: Getter, gates: FeatureGates, named: str = "") -> GuessedConfig:
    """Look for the scheduler's configuration, in the ConfigMap `namespace/name` if one is named.

    It must be one for the `gates` of the cluster's release.

    Raises ClusterProblem about the one that was named; the others need not be there, or readable.
    """
    if named:
        return _named(connection, gates, named)
    for name in NAMES:
        try:
            data = _data(connection, name)
        except ClusterProblem:
            continue  # a guess that cannot be made
        if name == KUBEADM:
            found = _kubeadm(data)
        else:
            found = _configuration(name, data, gates, "Guessed from")
        if found is not None:
            return found
    return GuessedConfig()


def _named(connection: Getter, gates: FeatureGates, name: str) -> GuessedConfig:
    if name.count("/") != 1 or not all(name.split("/")):
        raise NoConfiguration(f"{name!r} is no ConfigMap: write NAMESPACE/NAME.")
    found = _configuration(name, _data(connection, name), gates, "From")
    if found is None:
        raise NoConfiguration(f"ConfigMap {name} has no {KIND} that kviz can read.")
    return found


def _data(connection: Getter, name: str) -> Mapping[str, str]:
    """Return a ConfigMap's data. Raises ClusterProblem."""
    namespace, _, name = name.partition("/")
    answer = connection.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
    try:
        return _CONFIG_MAP.decode(answer).data or {}
    except msgspec.DecodeError:
        raise NoConfiguration(f"ConfigMap {namespace}/{name} cannot be read.") from None


def _configuration(
    name: str, data: Mapping[str, str], gates: FeatureGates, how: str
) -> GuessedConfig | None:
    for key, text in data.items():
        if KIND not in text or "keyData" in text:  # a private key is not for kviz to store
            continue
        try:
            load_configuration(text, gates)
        except ConfigError:
            continue
        return GuessedConfig(text, f"{how} ConfigMap {name}, {key}.")
    return None


def _kubeadm(data: Mapping[str, str]) -> GuessedConfig | None:
    """Read with which arguments kubeadm starts the scheduler."""
    try:
        found = msgspec.yaml.decode(data.get("ClusterConfiguration", ""))
    except msgspec.DecodeError:
        return None
    scheduler = found.get("scheduler") if isinstance(found, dict) else None
    arguments = scheduler.get("extraArgs") if isinstance(scheduler, dict) else None
    if not isinstance(found, dict):
        return None
    file = _argument(arguments, "config")
    if file:
        return GuessedConfig(
            origin=f"ConfigMap {KUBEADM} says --config={file}: kviz cannot read that file, give it."
        )
    return GuessedConfig(
        origin=f"Guessed: ConfigMap {KUBEADM} gives the scheduler no --config, so upstream's "
        "default profile."
    )


def _argument(arguments: object, name: str) -> str:
    """Return an argument's value: a map in v1beta3, a list of names and values since v1beta4."""
    if isinstance(arguments, dict):
        return str(arguments.get(name, ""))
    for each in arguments if isinstance(arguments, list) else ():
        if isinstance(each, dict) and each.get("name") == name:
            return str(each.get("value", ""))
    return ""
