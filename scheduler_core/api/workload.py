# ruff: noqa: RUF012 - msgspec gives every value its own copy of an empty default
"""Namespaces, priority classes, disruption budgets, services and the owners of pods."""

from typing import ClassVar

from scheduler_core.api.meta import ApiStruct, Int32, KubeObject, LabelSelector, Timestamp


class Namespace(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "Namespace"
    api_version: ClassVar[str] = "v1"


class PriorityClass(KubeObject, frozen=True, kw_only=True):
    """An empty ``preemption_policy`` means ``PreemptLowerPriority``."""

    kind: ClassVar[str] = "PriorityClass"
    api_version: ClassVar[str] = "scheduling.k8s.io/v1"
    also_read: ClassVar[tuple[str, ...]] = (
        "scheduling.k8s.io/v1beta1",
        "scheduling.k8s.io/v1alpha1",
    )

    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str = ""
    description: str = ""


class PodDisruptionBudgetSpec(ApiStruct, frozen=True, kw_only=True):
    """``min_available`` and ``max_unavailable`` are a number or a percentage such as ``50%``."""

    min_available: Int32 | str | None = None
    max_unavailable: Int32 | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str = ""


class PodDisruptionBudgetStatus(ApiStruct, frozen=True, kw_only=True):
    """``disrupted_pods`` maps names of pods being evicted to when that was processed."""

    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    disrupted_pods: dict[str, Timestamp | None] = {}


class PodDisruptionBudget(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "PodDisruptionBudget"
    api_version: ClassVar[str] = "policy/v1"
    also_read: ClassVar[tuple[str, ...]] = ("policy/v1beta1",)
    namespaced: ClassVar[bool] = True

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class ServiceSpec(ApiStruct, frozen=True, kw_only=True):
    selector: dict[str, str] = {}


class Service(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "Service"
    api_version: ClassVar[str] = "v1"
    namespaced: ClassVar[bool] = True

    spec: ServiceSpec = ServiceSpec()


class ReplicationControllerSpec(ApiStruct, frozen=True, kw_only=True):
    replicas: Int32 | None = None
    selector: dict[str, str] = {}


class ReplicationController(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "ReplicationController"
    api_version: ClassVar[str] = "v1"
    namespaced: ClassVar[bool] = True

    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class ReplicaSetSpec(ApiStruct, frozen=True, kw_only=True):
    replicas: Int32 | None = None
    selector: LabelSelector | None = None


class ReplicaSet(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "ReplicaSet"
    api_version: ClassVar[str] = "apps/v1"
    also_read: ClassVar[tuple[str, ...]] = ("apps/v1beta2", "extensions/v1beta1")
    namespaced: ClassVar[bool] = True

    spec: ReplicaSetSpec = ReplicaSetSpec()


class StatefulSetSpec(ApiStruct, frozen=True, kw_only=True):
    replicas: Int32 | None = None
    selector: LabelSelector | None = None


class StatefulSet(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "StatefulSet"
    api_version: ClassVar[str] = "apps/v1"
    also_read: ClassVar[tuple[str, ...]] = ("apps/v1beta2", "apps/v1beta1")
    namespaced: ClassVar[bool] = True

    spec: StatefulSetSpec = StatefulSetSpec()
