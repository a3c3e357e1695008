"""Kinds that a file lacks and its pods would have needed."""

from __future__ import annotations

import pytest

from scheduler_core.api.absent_kinds import absent_kinds
from tests.api.manifests import ingest_one

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n---\n"
POD = """apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec: {{containers: [{{name: c}}], {spec}}}
---
"""
CLAIM = """apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: shop}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}, {spec}}}
---
"""
VOLUME = """apiVersion: v1
kind: PersistentVolume
metadata: {{name: disk}}
spec: {{accessModes: [ReadWriteOnce], capacity: {{storage: 1Gi}}, {spec}}}
---
"""
CLASS = """apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: fast}}
provisioner: {provisioner}
volumeBindingMode: WaitForFirstConsumer
---
"""
DRIVER = """apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: disks.example}
spec: {storageCapacity: true}
---
"""
MOUNTS = "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]"
NEAR = """affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
  {topologyKey: zone, labelSelector: {}, namespaceSelector: %s}]}}"""
mounts = POD.format(spec=MOUNTS)
waits = CLAIM.format(spec="storageClassName: fast")
bound = CLAIM.format(spec="volumeName: disk")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (POD.format(spec=""), []),
        (mounts, ["PersistentVolumeClaim"]),
        (mounts + CLAIM.format(spec="storageClassName: ''"), []),
        (mounts + waits, ["StorageClass"]),
        (mounts + waits + CLASS.format(provisioner="kubernetes.io/no-provisioner"), []),
        (mounts + waits + CLASS.format(provisioner="disks.example"), ["CSINode", "CSIDriver"]),
        (
            mounts + waits + CLASS.format(provisioner="disks.example") + DRIVER,
            ["CSINode", "CSIStorageCapacity"],
        ),
        (mounts + bound, ["PersistentVolume"]),
        (mounts + bound + VOLUME.format(spec="hostPath: {path: /d}"), []),
        (mounts + bound + VOLUME.format(spec="csi: {driver: d, volumeHandle: v}"), ["CSINode"]),
        (POD.format(spec=NEAR % "{matchLabels: {team: a}}"), ["Namespace"]),
        (POD.format(spec=NEAR % "{}"), []),
        (POD.format(spec="priorityClassName: high"), ["PriorityClass"]),
        (POD.format(spec="priorityClassName: high, priority: 7"), []),
        (
            POD.format(spec="resourceClaims: [{name: gpu, resourceClaimName: gpu}]"),
            ["ResourceClaim", "DeviceClass", "ResourceSlice"],
        ),
        (mounts.replace("spec: {", "spec: {nodeName: ada, "), []),
    ],
)
def test_what_a_waiting_pod_would_have_needed(text: str, kinds: list[str]) -> None:
    found = ingest_one((NODE + text).encode())
    absent = absent_kinds(found.objects, ignored=found.ignored)
    assert [each.kind for each in absent] == kinds
    assert all(each.needed_by == ("shop/web",) for each in absent)
    assert [each.sentence for each in absent] == [
        text for text in found.left_out if text.startswith("kviz read no")
    ]


def test_it_is_said_with_what_to_get() -> None:
    (said,) = ingest_one((NODE + mounts + waits).encode()).left_out
    assert said == (
        "kviz read no StorageClass from the file, which shop/web would have needed: "
        "how their claims are provisioned is not known. "
        "Add what `kubectl get storageclasses -A -o yaml` prints."
    )


def test_of_a_kind_that_was_refused_none_was_read() -> None:
    refused = (
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: gold}\n"
        "value: 1000000001\n---\n"
    )
    found = ingest_one(
        (
            NODE
            + POD.format(spec="").replace("spec: {", "spec: {priorityClassName: gold, ")
            + refused
        ).encode()
    )
    left_out, said = found.left_out
    assert left_out.startswith("PriorityClass gold left out")
    assert said.startswith("kviz read no PriorityClass from the file, which shop/web")
    assert found.warnings == (
        "No PriorityClass gold was read from the upload; its pods count as priority 0: shop/web",
    )
