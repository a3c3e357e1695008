import gc
import io
from collections.abc import Iterable

import pytest

from scheduler_core.api import KINDS, Namespace, Node, Pod, PodDisruptionBudget, Service
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.ingest import Ingested, ingest
from scheduler_core.api.limits import Limits
from tests.api.manifests import (
    SHOP,
    as_json,
    gz_of,
    ingest_one,
    listed,
    node,
    pod,
    tar_of,
    zip_of,
)

POD, NODE = as_json(pod()), as_json(node())


def names(objects: Iterable[Pod | Node]) -> list[str]:
    return [item.key for item in objects]


def clean(result: Ingested) -> ClusterObjects:
    assert result.errors == ()
    return result.objects


def test_a_dump_as_kubectl_prints_it() -> None:
    result = ingest_one(SHOP)
    objects = clean(result)
    assert result.counts == {"Node": 1, "Pod": 1}
    assert result.ignored == {"Deployment": 1, "Secret": 1}
    assert result.warnings == (
        "Deployment shop/cart of 1: none of its pods was read from the file",
        "1 Secret dropped",
        "Environment variables of 1 pod dropped",
    )
    (ada,), (web,) = objects.of(Node), objects.of(Pod)
    assert ada.metadata.annotations == {}
    assert ada.spec.taints[0].key == "dedicated"
    assert ada.status.allocatable["nvidia.com/gpu"] == "1"
    assert ada.status.images[0].size_bytes == 104857600
    assert ada.status.declared_features == ("UserNamespacesHostNetworkSupport",)
    assert ada.status.node_info.architecture == "arm64"
    assert web.metadata.annotations == {"kubernetes.io/config.mirror": "abc"}
    assert web.metadata.creation_timestamp == 1_769_847_600_250_000_000
    assert web.metadata.owner_references[0].controller
    assert web.spec.containers[0].ports[0].host_ip == "127.0.0.1"
    assert web.spec.containers[0].resources.requests == {"cpu": "250m", "memory": "512Mi"}
    assert web.spec.tolerations[0].toleration_seconds == 300
    assert [volume.name for volume in web.spec.volumes] == ["data"]
    assert web.status.container_statuses == ()
    assert web.status.start_time == 1_769_847_602_000_000_000
    assert "s3cr3t" not in repr(list(objects))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(POD + NODE, id="concatenated"),
        pytest.param(POD + b"\n" + NODE + b"\n", id="lines"),
        pytest.param(b"[" + POD + b", " + NODE + b"]", id="array"),
        pytest.param(as_json(listed(pod(), node())), id="list"),
        pytest.param(b"\xef\xbb\xbf" + as_json(listed(pod(), node())), id="byte-order-mark"),
        pytest.param(as_json(listed(pod(), node())).decode().encode("utf-16"), id="utf-16"),
        pytest.param(POD + b"\n---\n" + NODE, id="marked"),
        pytest.param(b"# a pod\n---\n" + POD + b"\n---\n" + NODE + b"\n...\n", id="yaml-documents"),
        pytest.param(b"%YAML 1.2\n---\n" + POD + b"\n---\n---\n" + NODE, id="yaml-directive"),
        pytest.param(b"- " + POD + b"\n- " + NODE, id="yaml-sequence"),
        pytest.param(b"kind: List\napiVersion: v1\nitems: [" + POD + b"," + NODE + b"]", id="flow"),
        pytest.param(b"kind: List\nitems:\n  - " + POD + b"\n  - " + NODE, id="indented-items"),
    ],
)
def test_every_way_to_write_two_objects(text: bytes) -> None:
    objects = clean(ingest_one(text))
    assert names(objects.of(Pod)) == ["shop/web"]
    assert names(objects.of(Node)) == ["ada"]


@pytest.mark.parametrize(
    "text",
    [
        b"clientVersion:\n  gitVersion: v1.36.0\nserverVersion:\n  gitVersion: v1.37.1\n",
        b'{"clientVersion": {}, "serverVersion": {"gitVersion": "v1.37.1"}}',
        b'{"apiVersion":"v1","kind":"List","serverVersion":{"gitVersion":"v1.37.1"},"items":[]}',
    ],
)
def test_what_kubectl_version_prints_says_the_api_server(text: bytes) -> None:
    result = ingest([("version", text), ("node", NODE)])
    assert (result.counts, result.server_version) == ({"Node": 1}, "v1.37.1")
    assert result.errors == ()


def test_windows_line_ends() -> None:
    assert ingest_one(SHOP.replace(b"\n", b"\r\n")) == ingest_one(SHOP)


def test_an_alias_across_items_of_a_list() -> None:
    text = b"""\
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: &same {name: ada}
- apiVersion: v1
  kind: Namespace
  metadata: *same
"""
    objects = clean(ingest_one(text))
    assert objects.of(Node)[0].metadata == objects.of(Namespace)[0].metadata


def test_a_quoted_text_that_looks_like_an_item() -> None:
    text = b"""\
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: ada
    labels: {note: "one

- two"}
"""
    (ada,) = clean(ingest_one(text)).of(Node)
    assert ada.metadata.labels == {"note": "one\n- two"}


BARE_POD = {"metadata": pod()["metadata"], "spec": pod()["spec"]}
POD_LIST = {"kind": "PodList", "apiVersion": "v1", "items": [BARE_POD]}
POD_LIST_YAML = b"""\
kind: PodList
apiVersion: v1
items:
- metadata: {name: web, namespace: shop}
  spec:
    containers:
    - name: main
      image: registry.example.com/web:1
"""


@pytest.mark.parametrize("text", [as_json(POD_LIST), POD_LIST_YAML], ids=["json", "yaml"])
def test_items_of_a_typed_list_need_no_kind(text: bytes) -> None:
    assert clean(ingest_one(text)).of(Pod) == clean(ingest_one(POD)).of(Pod)


@pytest.mark.parametrize(
    "text",
    [
        b'{"kind":"PodList","apiVersion":"v1","items":null}',
        b'{"kind":"List","apiVersion":"v1"}',
        b"kind: PodList\napiVersion: v1\nitems: []\n",
        b"kind: NodeList\napiVersion: v1\nitems:\n",
    ],
)
def test_empty_lists_hold_nothing(text: bytes) -> None:
    objects = clean(ingest([("empty", text), ("node", NODE)]))
    assert objects.counts == {"Node": 1}


def test_a_kind_that_only_sounds_like_a_list() -> None:
    allow_list = b'{"kind":"AllowList","apiVersion":"example.com/v1","spec":{}}'
    result = ingest_one(allow_list + NODE)
    assert result.ignored == {"AllowList": 1}
    result = ingest_one(b"kind: AllowList\napiVersion: example.com/v1\n---\n" + NODE)
    assert result.ignored == {"AllowList": 1}


def test_a_known_name_in_a_foreign_group_is_another_kind() -> None:
    knative = b'{"kind":"Service","apiVersion":"serving.knative.dev/v1","metadata":{"name":"a"}}'
    result = ingest_one(knative + NODE)
    assert result.objects.of(Service) == ()
    assert result.ignored == {"Service.serving.knative.dev": 1}


DUMP = {
    "dump/nodes.json": as_json({"kind": "NodeList", "apiVersion": "v1", "items": [node()]}),
    "dump/shop/pods.json": as_json({"kind": "PodList", "apiVersion": "v1", "items": [pod()]}),
    "dump/shop/events.json": b'{"kind":"EventList","apiVersion":"v1","items":[{"metadata":{}}]}',
    "dump/shop/web/logs.txt": b"==== START logs ====\n{ not json",
    "__MACOSX/dump/._nodes.json": b"\0\0",
    "dump/picture.png": b"\x89PNG",
}


GZIPPED_DUMP = {name + ".gz": gz_of(text) for name, text in DUMP.items()}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(tar_of(DUMP), id="tar"),
        pytest.param(tar_of(DUMP, "w:gz"), id="tar.gz"),
        pytest.param(gz_of(tar_of(DUMP)), id="gz of tar"),
        pytest.param(zip_of(DUMP), id="zip"),
        pytest.param(zip_of({"dump.tgz": tar_of(DUMP, "w:gz")}), id="tgz in zip"),
        pytest.param(tar_of(GZIPPED_DUMP), id="gz in tar"),
    ],
)
def test_archives_of_a_cluster_dump(data: bytes) -> None:
    result = ingest_one(data, "archive")
    objects = clean(result)
    assert names(objects.of(Pod)) == ["shop/web"]
    assert names(objects.of(Node)) == ["ada"]
    assert result.ignored == {"Event": 1}
    assert result.ignored_files == 3


def test_a_dump_as_a_folder_of_files() -> None:
    result = ingest((name, text) for name, text in DUMP.items() if not name.endswith("png"))
    assert clean(result).counts == {"Node": 1, "Pod": 1}
    assert result.ignored_files == 2


def test_a_dump_printed_with_its_logs() -> None:
    text = (
        DUMP["dump/nodes.json"]
        + b"\n==== START logs for container main of pod shop/web ====\n{ not json\n"
        + b"==== END logs for container main of pod shop/web ====\n"
        + DUMP["dump/shop/pods.json"]
        + b"\n==== START logs for container cut off"
    )
    assert clean(ingest_one(text)).counts == {"Node": 1, "Pod": 1}


def test_a_gzip_file_of_several_members_and_padding() -> None:
    data = gz_of(POD) + gz_of(NODE) + b"\0" * 100
    assert clean(ingest_one(data)).counts == {"Node": 1, "Pod": 1}


class OneWay(io.BytesIO):
    """A stream such as a socket gives."""

    def seekable(self) -> bool:
        return False


@pytest.mark.parametrize("source", [bytes, bytearray, memoryview, io.BytesIO, OneWay])
def test_any_source_of_bytes(source: type) -> None:
    assert clean(ingest([("node", source(gz_of(NODE)))])).counts == {"Node": 1}


def test_objects_keep_the_order_of_the_file() -> None:
    text = as_json(listed(pod("c"), node("n"), pod("a"), pod("b")))
    assert names(clean(ingest_one(text)).of(Pod)) == ["shop/c", "shop/a", "shop/b"]


def test_given_twice_the_later_one_counts() -> None:
    later = as_json(listed(node(), pod(priority=2)))
    result = ingest([("a", as_json(pod(priority=1))), ("b", later)])
    (web,) = clean(result).of(Pod)
    assert web.spec.priority == 2
    assert result.warnings == ("1 object given more than once, the last one counts: Pod shop/web",)


def test_pods_on_missing_nodes() -> None:
    pods = [pod(f"p{index}", nodeName="gone") for index in range(5)]
    result = ingest_one(as_json(listed(node(), pod("ok", nodeName="ada"), *pods)))
    assert result.warnings == (
        "5 pods bound to a node that was not read from the upload: "
        "shop/p0, shop/p1, shop/p2 and 2 more",
    )


def test_pods_without_any_node() -> None:
    (sentence,) = ingest_one(POD).left_out
    assert sentence.startswith("kviz read no Node from the file")


def test_nodes_without_any_pod() -> None:
    (warning,) = ingest_one(as_json(node())).warnings
    assert warning.startswith("There are nodes and no pods here")


def test_what_is_not_modelled_is_said() -> None:
    grouped = pod("grouped", schedulingGroup={"podGroupName": "gang"})
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "gang"},
    }
    result = ingest_one(as_json(listed(node(), grouped, group)))
    assert result.warnings == (
        "Not modelled: scheduling groups (gangs) of 1 pod: shop/grouped",
        "Not modelled: 1 PodGroup",
    )


OLDER: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("PriorityClass", "scheduling.k8s.io/v1beta1", {"value": 7}),
    ("PriorityClass", "scheduling.k8s.io/v1alpha1", {"value": 7}),
    ("PodDisruptionBudget", "policy/v1beta1", {"spec": {"minAvailable": 1}}),
    ("StorageClass", "storage.k8s.io/v1beta1", {"provisioner": "disks.example.com"}),
    ("CSINode", "storage.k8s.io/v1beta1", {"spec": {"drivers": [{"name": "d", "nodeID": "x"}]}}),
    ("CSIDriver", "storage.k8s.io/v1beta1", {"spec": {"attachRequired": True}}),
    ("CSIStorageCapacity", "storage.k8s.io/v1beta1", {"storageClassName": "x"}),
    ("VolumeAttachment", "storage.k8s.io/v1alpha1", {"spec": {"nodeName": "ada"}}),
    ("ReplicaSet", "extensions/v1beta1", {"spec": {"selector": {"matchLabels": {"app": "a"}}}}),
    ("StatefulSet", "apps/v1beta1", {"spec": {"selector": {"matchLabels": {"app": "a"}}}}),
    ("DeviceClass", "resource.k8s.io/v1beta1", {"spec": {}}),
    ("DeviceTaintRule", "resource.k8s.io/v1alpha3", {"spec": {"taint": {"key": "broken"}}}),
    ("DeviceTaintRule", "resource.k8s.io/v1beta2", {"spec": {"deviceSelector": {"pool": "n1"}}}),
)


@pytest.mark.parametrize(("kind", "version", "fields"), OLDER)
def test_an_older_version_is_read_and_said(
    kind: str, version: str, fields: dict[str, object]
) -> None:
    raw = {"apiVersion": version, "kind": kind, "metadata": {"name": "old"}, **fields}
    present = KINDS[kind].api_version
    for text in (as_json(raw), b"---\n" + as_json(raw)):
        result = ingest_one(text)
        assert not result.errors
        assert f"1 {kind} of {version} read as {present}" in result.warnings
        assert list(result.objects) == list(
            ingest_one(as_json(raw | {"apiVersion": present})).objects
        )


def test_an_empty_selector_of_an_older_budget_matches_no_pod() -> None:
    raw = {"kind": "PodDisruptionBudget", "metadata": {"name": "all"}, "spec": {"selector": {}}}
    old = ingest_one(as_json(raw | {"apiVersion": "policy/v1beta1"}))
    new = ingest_one(as_json(raw | {"apiVersion": "policy/v1"}))
    assert [budget.spec.selector for budget in old.objects.of(PodDisruptionBudget)] == [None]
    assert [budget.spec.selector for budget in new.objects.of(PodDisruptionBudget)] != [None]


def test_managed_fields_are_dropped_and_said() -> None:
    raw = node()
    raw["metadata"]["managedFields"] = [{"manager": "kubelet"}]
    for text in (as_json(raw), b"---\n" + as_json(raw)):
        assert "managedFields of 1 object dropped" in ingest_one(text).warnings


def test_a_label_called_env_is_no_environment() -> None:
    raw = pod(nodeSelector={"env": "prod"})
    assert "Environment" not in str(ingest_one(as_json(listed(node(), raw))).warnings)


def test_pods_get_the_priority_of_their_class() -> None:
    high = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
        "preemptionPolicy": "Never",
    }
    asking = [pod("a", priorityClassName="high"), pod("b"), pod("c", priorityClassName="gone")]
    result = ingest_one(as_json(listed(node(), *asking, high)))
    specs = [item.spec for item in clean(result).of(Pod)]
    assert [spec.priority for spec in specs] == [1000, 0, None]
    assert specs[0].preemption_policy == "Never"
    assert result.warnings == (
        "No PriorityClass gone was read from the upload; its pods count as priority 0: shop/c",
    )


def test_progress_rises_from_nothing_to_everything() -> None:
    pods = as_json(listed(*(pod(f"p{index}") for index in range(2000))))
    files = [
        ("a.json", pods),
        ("b.yaml", SHOP),
        ("c.zip", zip_of({"d.json": pods, "e.json": NODE})),
    ]
    seen: list[tuple[int, int]] = []
    clean(ingest(files, progress=lambda done, total: seen.append((done, total))))
    total = sum(len(data) for _, data in files)
    assert {each for _, each in seen} == {total}
    done = [each for each, _ in seen]
    assert done == sorted(done)
    assert done[-1] == total
    assert len(set(done)) > 8


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        gc.enable() if enabled else gc.disable()
        ingest_one(SHOP)
        assert gc.isenabled() is enabled
    finally:
        gc.enable() if before else gc.disable()


def test_objects_by_kind() -> None:
    objects = clean(ingest_one(as_json(listed(node("b"), pod(), node("a")))))
    assert len(objects) == 3
    assert [item.kind for item in objects] == ["Node", "Node", "Pod"]
    assert objects.of(Service) == ()
    assert objects == ClusterObjects(list(objects))
    assert objects != ClusterObjects()
    assert objects != "objects"
    assert repr(objects) == "ClusterObjects({'Node': 2, 'Pod': 1})"


def test_limits_can_be_narrowed() -> None:
    limits = Limits(objects=3)
    files = [("pods", as_json(listed(*(pod(f"p{index}") for index in range(4))))), ("next", NODE)]
    result = ingest(files, limits)
    assert [str(error) for error in result.errors] == ["pods: the upload holds more than 3 objects"]
    assert len(result.objects) == 0


def test_a_pod_stuck_on_a_node_out_of_reach_is_named_with_what_to_do() -> None:
    stuck = pod("old", nodeName="ada")
    stuck["metadata"]["deletionTimestamp"] = "2026-11-20T06:00:00Z"
    lost = node("ada", conditions=[{"type": "Ready", "status": "Unknown"}])
    (warning,) = ingest_one(as_json(listed(lost, stuck))).warnings
    assert warning == (
        "shop/old is terminating since 2026-11-20T06:00:00Z, its node ada is unreachable: "
        "force-delete it, or wait for the node"
    )
