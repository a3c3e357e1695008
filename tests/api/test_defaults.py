from typing import Any

from scheduler_core.api import Node, Pod, ResourceRequirements, StorageClass
from scheduler_core.api.errors import Place
from scheduler_core.api.parse import parse_object
from tests.api.manifests import node, pod


def parsed_pod(raw: dict[str, Any]) -> Pod:
    item = parse_object(raw, Place())
    assert isinstance(item, Pod)
    return item


def amounts(**resources: dict[str, str]) -> dict[str, Any]:
    return {"name": "c", "resources": resources}


def test_a_bare_pod_gets_what_the_api_server_gives() -> None:
    raw = pod()
    del raw["metadata"]["namespace"]
    item = parsed_pod(raw)
    assert item.namespace == "default"
    assert item.spec.scheduler_name == "default-scheduler"
    assert item.spec.restart_policy == "Always"
    assert item.spec.termination_grace_period_seconds == 30


def test_given_values_stay() -> None:
    item = parsed_pod(
        pod(schedulerName="mine", terminationGracePeriodSeconds=0, restartPolicy="No")
    )
    assert item.spec.scheduler_name == "mine"
    assert item.spec.termination_grace_period_seconds == 0
    assert item.spec.restart_policy == "No"


def test_requests_follow_limits_where_they_are_absent() -> None:
    raw = pod(
        containers=[amounts(limits={"cpu": "2", "memory": "1Gi"}, requests={"cpu": "1"})],
        initContainers=[amounts(limits={"cpu": "3"})],
    )
    item = parsed_pod(raw)
    assert item.spec.containers[0].resources.requests == {"cpu": "1", "memory": "1Gi"}
    assert item.spec.init_containers[0].resources.requests == {"cpu": "3"}


def test_ports_on_the_host_network_are_host_ports() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}]
    containers = [{"name": "c", "ports": ports}]
    on_host = parsed_pod(pod(hostNetwork=True, containers=containers))
    assert [port.host_port for port in on_host.spec.containers[0].ports] == [80, 8081]
    apart = parsed_pod(pod(containers=containers))
    assert [port.host_port for port in apart.spec.containers[0].ports] == [0, 8081]


def test_pod_level_requests_follow_the_containers_then_the_limits() -> None:
    raw = pod(
        resources={"limits": {"cpu": "4", "memory": "4Gi", "hugepages-2Mi": "2Mi"}},
        containers=[amounts(requests={"cpu": "500m"}), amounts(requests={"cpu": "250m"})],
        initContainers=[
            {**amounts(requests={"cpu": "100m"}), "restartPolicy": "Always"},
            amounts(requests={"cpu": "1"}),
        ],
    )
    # Running: 500m + 250m + the sidecar's 100m; starting up: the sidecar's 100m + 1.
    assert parsed_pod(raw).spec.resources == ResourceRequirements(
        requests={"cpu": "1100m", "memory": "4Gi", "hugepages-2Mi": "2Mi"},
        limits={"cpu": "4", "memory": "4Gi", "hugepages-2Mi": "2Mi"},
    )


def test_pod_level_huge_page_limits_follow_the_containers() -> None:
    huge = amounts(limits={"hugepages-2Mi": "4Mi"})
    raw = pod(
        resources={"requests": {"cpu": "1"}},
        containers=[huge, huge],
    )
    resources = parsed_pod(raw).spec.resources
    assert resources is not None
    assert resources.limits == {"hugepages-2Mi": "8Mi"}
    assert resources.requests == {"cpu": "1", "hugepages-2Mi": "8Mi"}


def test_pod_level_requests_without_limits_stay() -> None:
    raw = pod(
        resources={"requests": {"cpu": "1"}}, containers=[amounts(requests={"memory": "1Gi"})]
    )
    resources = parsed_pod(raw).spec.resources
    assert resources is not None
    assert resources.requests == {"cpu": "1"}


def test_a_node_that_reports_no_allocatable_offers_its_capacity() -> None:
    item = parse_object(node(capacity={"cpu": "4"}), Place())
    assert isinstance(item, Node)
    assert item.status.allocatable == {"cpu": "4"}


def test_cluster_wide_objects_have_no_namespace() -> None:
    raw = node()
    raw["metadata"]["namespace"] = "shop"
    assert parse_object(raw, Place()).key == "ada"


def test_a_storage_class_binds_immediately() -> None:
    raw = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}}
    item = parse_object(raw, Place())
    assert isinstance(item, StorageClass)
    assert item.volume_binding_mode == "Immediate"
