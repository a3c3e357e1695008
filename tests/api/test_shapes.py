"""Files as people have them: names that a server makes, JSON that is cut off, ConfigMaps."""

from __future__ import annotations

import json

import pytest

from scheduler_core.api.ingest import ingest
from scheduler_core.config import load_configuration

PODS = [
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c"}]},
    }
    for name in ("a", "b", "c")
]
CONFIGURATION = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: mine}]
"""
CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "scheduler", "namespace": "kube-system"},
    "data": {"note": "x", "config.yaml": CONFIGURATION},
}


def test_what_has_only_a_generate_name_gets_a_name() -> None:
    text = (
        "---\n{apiVersion: v1, kind: Pod, metadata: {generateName: web-}, "
        "spec: {containers: [{name: c}]}}\n"
    )
    found = ingest([("f.yaml", (text * 2).encode())])
    first, second = (each.name for each in found.objects)
    assert first != second
    assert first.startswith("web-")
    assert found.warnings[0] == (
        f"2 objects with only a generateName got a name: default/{first}, default/{second}"
    )
    assert not found.errors


@pytest.mark.parametrize("indent", [None, 1])
def test_of_json_that_is_cut_off_the_whole_objects_are_kept(indent: int | None) -> None:
    text = json.dumps({"apiVersion": "v1", "items": PODS, "kind": "List"}, indent=indent)
    cut = text[: text.rindex('"metadata"')]
    found = ingest([("f.json", cut.encode())])
    assert [each.name for each in found.objects] == ["a", "b"]
    line = cut.rstrip().count("\n") + 1
    assert [each.message for each in found.errors] == [
        f"is cut off in line {line}: the rest is lost"
    ]


@pytest.mark.parametrize("is_json", [False, True])
def test_a_configuration_is_taken_out_of_its_config_map(is_json: bool) -> None:
    text = json.dumps(CONFIG_MAP)
    found = ingest([("f", (text if is_json else f"# kept\n---\n{text}").encode())])
    assert found.scheduler_config == CONFIGURATION
    assert load_configuration(text).profiles[0].scheduler_name == "mine"


@pytest.mark.parametrize("binding", ["WaitForFirstConsumer", "Immediate"])
def test_a_pod_that_names_its_node_never_gets_a_volume_that_waits(binding: str) -> None:
    text = f"""---
{{apiVersion: v1, kind: Node, metadata: {{name: n}}}}
---
{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: late}}, provisioner: x,
  volumeBindingMode: {binding}}}
---
{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: d}},
  spec: {{storageClassName: late}}}}
---
{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {{nodeName: n, containers: [{{name: c}}],
  volumes: [{{name: d, persistentVolumeClaim: {{claimName: d}}}}]}}}}
"""
    told = [each for each in ingest([("f", text.encode())]).warnings if "never starts" in each]
    assert len(told) == (binding == "WaitForFirstConsumer")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("RuntimeClass", "the RuntimeClass in the file is not applied"),
        ("LimitRange", "1 LimitRange in the file not applied"),
        ("ResourceQuota", "1 ResourceQuota in the file not applied"),
    ],
)
def test_what_an_api_server_would_apply_is_told(kind: str, told: str) -> None:
    pod = (
        "---\n{apiVersion: v1, kind: Pod, metadata: {name: p}, "
        "spec: {runtimeClassName: kata, containers: [{name: c}]}}"
    )
    other = f"{{apiVersion: v1, kind: {kind}, metadata: {{name: x}}}}"
    found = ingest([("f", f"{pod}\n---\n{other}".encode())])
    assert any(told in each for each in found.warnings)
    absent = [each for each in found.left_out if "read no RuntimeClass" in each]
    assert len(absent) == (kind != "RuntimeClass")


AS_LIST = json.dumps({"items": PODS})


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(AS_LIST.encode(), id="items-without-kind"),
        pytest.param(AS_LIST.encode("utf-16-le"), id="utf-16"),
        pytest.param(f"It is pending:\n\n```json\n{AS_LIST}\n```\nWhy?\n".encode(), id="fences"),
        pytest.param(
            b"```\nkubectl get pods\n```\n"
            + b"".join(b"```yaml\n%b\n```\n" % json.dumps(each).encode() for each in PODS),
            id="parts-of-a-ticket",
        ),
    ],
)
def test_objects_are_found_in_what_is_around_them(data: bytes) -> None:
    found = ingest([("file", data)])
    assert [each.name for each in found.objects] == ["a", "b", "c"]
    assert not found.errors


def test_lines_are_those_of_the_ticket() -> None:
    text = "Hello\n```yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
    text += "spec: {containers: [{name: c, resources: {requests: {cpu: lots}}}]}\n```\n"
    (error,) = ingest([("file", text.encode())]).errors
    assert error.place.line == 6
