"""The panics of the real scheduler are told where a cluster and a configuration meet in one."""

from __future__ import annotations

import pytest

from scheduler_core.api import CSIStorageCapacity, DeviceClass, KubeObject, ObjectMeta
from scheduler_core.api.device import CELDeviceSelector, DeviceClassSpec, DeviceSelector
from scheduler_core.config import (
    FeatureGates,
    default_configuration,
    feature_gates,
    load_configuration,
)
from scheduler_core.releases import RELEASES
from scheduler_core.sim.not_modelled import panics

BALANCED = load_configuration(
    """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesBalancedAllocation
    args: {resources: [{name: cpu, weight: 1}, {name: example.com/gpu, weight: 1}]}
"""
)


def device_class(*selectors: str) -> DeviceClass:
    chosen = tuple(DeviceSelector(cel=CELDeviceSelector(expression=each)) for each in selectors)
    spec = DeviceClassSpec(selectors=chosen, extended_resource_name="example.com/gpu")
    return DeviceClass(metadata=ObjectMeta(name="gpu"), spec=spec)


def capacity(*, maximum: str, amount: str = "") -> CSIStorageCapacity:
    return CSIStorageCapacity(
        metadata=ObjectMeta(name="c", namespace="kube-system"),
        storage_class_name="fast",
        capacity=amount,
        maximum_volume_size=maximum,
    )


GPU = device_class("device.driver == 'gpu.example.com'")
UNKNOWN = capacity(maximum="1Gi")


@pytest.mark.parametrize(
    ("release", "item", "gates", "told"),
    [
        ("1.36.2", GPU, {}, "example.com/gpu, DeviceClass gpu: "),
        ("1.36.3", GPU, {}, "Take it out of the resources of the plugin"),
        ("1.36.2", GPU, {"DRAExtendedResource": False}, ""),
        ("1.36.2", device_class(), {}, ""),
        ("1.37.2", UNKNOWN, {}, "StorageClass fast"),
        ("1.37.2", UNKNOWN, {"StorageCapacityScoring": False}, ""),
        ("1.37.2", capacity(maximum="1Gi", amount="9Gi"), {}, ""),
        ("1.36.3", UNKNOWN, {}, ""),
        ("1.36.3", UNKNOWN, {"StorageCapacityScoring": True}, "StorageClass fast"),
        ("1.37.2", GPU, {}, "example.com/gpu, DeviceClass gpu: "),
    ],
)
def test_panics(release: str, item: KubeObject, gates: dict[str, bool], told: str) -> None:
    features = feature_gates(gates, release=RELEASES[release])
    found = list(panics([item], BALANCED, features))
    assert len(found) == bool(told)
    assert all(told in text and f"a bug of Kubernetes v{release}" in text for text in found)


def test_nothing_is_told_of_resources_that_are_not_weighed() -> None:
    plain = default_configuration()
    assert list(panics([GPU], plain, FeatureGates())) == []
