"""A file with workloads and none of their pods is told so; a chart's hook is named as one."""

import json

import pytest
import yaml

from scheduler_core.api.ingest import ingest


def _deployment(**spec: object) -> dict[str, object]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 3, "template": template, **spec},
    }


def _pod(**metadata: object) -> dict[str, object]:
    spec = {"containers": [{"name": "c", "image": "x"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", **metadata}, "spec": spec}


_OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d4", "uid": "1"}
LACKING = ("Deployment web of 3: none of its pods was read from the file",)


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([_deployment()], LACKING),
        ([_deployment(), _pod()], LACKING),
        ([_deployment(), _pod(labels={"app": "web", "x": "y"})], ()),
        ([_deployment(), _pod(ownerReferences=[_OWNER])], ()),
        ([_deployment(replicas=0)], ()),
    ],
)
@pytest.mark.parametrize(
    "written", [yaml.safe_dump_all, lambda found: "".join(map(json.dumps, found))]
)
def test_of_a_workload_without_pods_it_is_said_first(objects, expected, written) -> None:  # type: ignore[no-untyped-def]
    found = ingest([("f", written(objects).encode())])
    assert found.without_pods == expected
    told = (*(each.message for each in found.errors), *found.warnings)
    assert told[: len(expected)] == expected


def test_a_pod_of_a_hook_is_named_as_one() -> None:
    text = yaml.safe_dump(_pod(annotations={"helm.sh/hook": "test"}))
    assert ingest([("f", text.encode())]).warnings[0] == (
        "Pod default/p is a hook of a chart (helm.sh/hook: test), not a pod of its workload"
    )
