from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import (
    CSINode,
    KubeObject,
    Node,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
)
from scheduler_core.api.errors import ParseError, Place
from scheduler_core.api.parse import decode, parse_object
from tests.api.manifests import as_json, node, pod
from tests.tables import rows

PLACE = Place("pods.yaml", 12)


def parsed(raw: dict[str, Any]) -> Any:
    """The object, equal on the road from JSON text and on the one from plain data."""
    item = parse_object(raw, PLACE)
    assert decode(as_json(raw), type(item), PLACE) == item
    return item


def problem(raw: dict[str, Any]) -> str:
    """The complaint, equal on both roads."""
    with pytest.raises(ParseError) as from_plain:
        parse_object(raw, PLACE)
    kinds: dict[str, type[KubeObject]] = {
        "Pod": Pod,
        "Node": Node,
        "PersistentVolumeClaim": PersistentVolumeClaim,
    }
    with pytest.raises(ParseError) as from_json:
        decode(as_json(raw), kinds[raw["kind"]], PLACE)
    assert str(from_plain.value) == str(from_json.value)
    return str(from_plain.value)


def container(**fields: Any) -> dict[str, Any]:
    return pod(containers=[{"name": "main", **fields}])


def test_null_is_absent() -> None:
    raw = pod(
        tolerations=None,
        nodeSelector=None,
        affinity=None,
        nodeName=None,
        priority=None,
        hostNetwork=None,
        overhead=None,
    )
    raw["metadata"].update(labels=None, creationTimestamp=None, ownerReferences=None)
    raw["status"] = None
    assert parsed(raw) == parsed(pod())


def test_null_labels_are_empty_text_and_odd_keys_become_text() -> None:
    raw = node()
    raw["metadata"]["labels"] = {"plain": None, "other": "x"}
    assert parsed(raw).metadata.labels == {"plain": "", "other": "x"}
    raw["metadata"]["labels"] = {5: "five", True: "yes", None: "nothing"}
    item = parse_object(raw, PLACE)
    assert item.metadata.labels == {"5": "five", "true": "yes", "null": "nothing"}


def test_an_absent_selector_differs_from_an_empty_one() -> None:
    def with_selector(selector: Any) -> dict[str, Any]:
        term = {"topologyKey": "zone", "labelSelector": selector}
        affinity = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        return pod(affinity={"podAffinity": affinity})

    absent, empty = parsed(with_selector(None)), parsed(with_selector({}))
    terms = [
        item.spec.affinity.pod_affinity.required_during_scheduling_ignored_during_execution[0]
        for item in (absent, empty)
    ]
    assert terms[0].label_selector is None
    assert terms[1].label_selector is not None


def test_bare_numbers_are_quantities() -> None:
    raw = container(resources={"requests": {"cpu": 0.5, "memory": 1000000, "example.com/gpu": 2}})
    requests = parsed(raw).spec.containers[0].resources.requests
    assert requests == {"cpu": "0.5", "memory": "1000000", "example.com/gpu": "2"}


def test_whole_floats_are_integers() -> None:
    assert parsed(pod(priority=5.0)).spec.priority == 5


def test_times_are_nanoseconds() -> None:
    raw = pod()
    raw["metadata"]["creationTimestamp"] = "2026-01-31T08:15:00.000000001Z"
    assert parsed(raw).metadata.creation_timestamp == 1_769_847_300_000_000_001


def test_what_could_hold_secrets_is_not_kept() -> None:
    secret = "hunter2"
    raw = container(
        env=[{"name": "TOKEN", "value": secret}],
        command=["run", secret],
        args=[secret],
        envFrom=[{"secretRef": {"name": secret}}],
        livenessProbe={"exec": {"command": [secret]}},
    )
    raw["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": secret,
        "kubernetes.io/config.mirror": "kept",
    }
    raw["metadata"]["managedFields"] = [{"manager": secret}]
    item = parsed(raw)
    assert secret not in repr(item)
    assert item.metadata.annotations == {"kubernetes.io/config.mirror": "kept"}


def test_volumes_without_meaning_do_not_make_pods_differ() -> None:
    def with_token(name: str) -> dict[str, Any]:
        return pod(
            volumes=[
                {"name": name, "projected": {"sources": []}},
                {"name": "scratch", "emptyDir": {}},
                {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
            ]
        )

    first, second = parsed(with_token("kube-api-access-a1")), parsed(with_token("kube-api-b2"))
    assert first == second
    assert [volume.name for volume in first.spec.volumes] == ["data"]


def test_an_ephemeral_volume_keeps_its_claim_but_not_its_annotations() -> None:
    template = {
        "metadata": {"annotations": {"note": "secret"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    item = parsed(pod(volumes=[{"name": "tmp", "ephemeral": {"volumeClaimTemplate": template}}]))
    (volume,) = item.spec.volumes
    assert volume.ephemeral.volume_claim_template.spec.access_modes == ("ReadWriteOnce",)
    assert "secret" not in repr(item)


def test_container_statuses_are_kept_for_their_resources() -> None:
    raw = pod()
    raw["status"] = {
        "containerStatuses": [
            {"name": "main", "ready": True},
            {"name": "resized", "resources": {"requests": {"cpu": "2"}}},
            {"name": "allocated", "allocatedResources": {"cpu": "1"}},
        ]
    }
    statuses = parsed(raw).status.container_statuses
    assert [status.name for status in statuses] == ["resized", "allocated"]


def test_in_line_csi_volumes_and_migrated_plugins_are_kept() -> None:
    item = parsed(pod(volumes=[{"name": "s", "csi": {"driver": "secrets.example.com"}}]))
    assert item.spec.volumes[0].csi.driver == "secrets.example.com"
    annotation = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
    raw = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "ada", "annotations": annotation},
        "spec": {"drivers": [{"name": "ebs", "nodeID": "i-1", "allocatable": {"count": 25}}]},
    }
    item = parsed(raw)
    assert isinstance(item, CSINode)
    assert item.metadata.annotations == annotation
    assert item.spec.drivers[0].allocatable is not None
    assert (item.spec.drivers[0].node_id, item.spec.drivers[0].allocatable.count) == ("i-1", 25)


def test_disrupted_pods_of_a_budget() -> None:
    raw = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "status": {"disruptedPods": {"a": "1970-01-01T00:00:01Z", "b": None}},
    }
    item = parsed(raw)
    assert isinstance(item, PodDisruptionBudget)
    assert item.status.disrupted_pods == {"a": 1_000_000_000, "b": None}


AT = "pods.yaml#12"


MAKE: dict[str, Callable[..., dict[str, Any]]] = {"pod": pod, "node": node, "object": dict}


@pytest.mark.parametrize(("make", "fields", "expected"), rows(__file__, "complaints"))
def test_complaints_name_the_field(make: str, fields: dict[str, Any], expected: str) -> None:
    raw = MAKE[make](**fields)
    assert problem(raw) == f"{AT} {expected}"


def test_an_infinite_amount() -> None:
    """JSON has no infinity, YAML does."""
    with pytest.raises(ParseError, match="is not a quantity"):
        parse_object(container(resources={"requests": {"cpu": float("inf")}}), PLACE)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({}, "kind: null is not a modelled kind"),
        ({"kind": "Pod"}, "apiVersion: is missing; Pod is read as v1"),
        (
            {"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1alpha2"},
            'apiVersion: "resource.k8s.io/v1alpha2" is not supported for ResourceClaim; use '
            "resource.k8s.io/v1",
        ),
        (
            {"kind": "Service", "apiVersion": "serving.knative.dev/v1"},
            'kind: the text "Service" is not a modelled kind',
        ),
        ({"kind": 5}, "kind: must be text, not the number 5"),
        ({"kind": "Pod", "apiVersion": []}, "apiVersion: must be text, not a list"),
    ],
)
def test_names_of_kinds(raw: dict[str, Any], expected: str) -> None:
    with pytest.raises(ParseError) as raised:
        parse_object(raw, PLACE)
    assert str(raised.value) == f"{AT} {expected}"


def test_a_place_may_be_unknown() -> None:
    assert str(ParseError(Place(), "", "is odd")) == "is odd"
    assert str(ParseError(Place("a.yaml", 3, 40, "Pod a/b"), "spec", "is odd")) == (
        "a.yaml#3 spec: is odd (Pod a/b, line 40)"
    )


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["metadata", "spec", "status", "name", "labels", "containers", "resources",
                 "requests", "cpu", "tolerations", "key", "volumes", "affinity", "podAffinity"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.sampled_from(["Pod", "Node"]), plain, plain, plain)
def test_any_data_is_an_object_or_a_complaint(
    kind: str, metadata: object, spec: object, status: object
) -> None:
    raw = {
        "apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec, "status": status,
    }  # fmt: skip
    try:
        item = parse_object(raw, PLACE)
    except ParseError:
        return
    assert item.kind == kind
    assert item.metadata.name
