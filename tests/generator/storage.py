"""Random volumes, claims and classes, and pods that use them."""

from __future__ import annotations

from typing import Final

from tests.generator.disks import MIGRATED, disk
from tests.generator.draw import Draw, Json
from tests.generator.selectors import NAMESPACES, REGION, ZONE

DRIVER: Final = "ebs.csi.example"
OTHER_DRIVER: Final = "nfs.csi.example"
CLASSES: Final = ("imm", "late", "local", "zoned")
MODES: Final = ("ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany")


def storage_classes() -> list[Json]:
    zones = {"key": ZONE, "values": ["zone-a", "zone-b"]}
    return [
        _class("imm", DRIVER, "Immediate"),
        _class("late", DRIVER, "WaitForFirstConsumer"),
        _class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
        _class("zoned", DRIVER, "WaitForFirstConsumer")
        | {"allowedTopologies": [{"matchLabelExpressions": [zones]}]},
    ]


def _class(name: str, provisioner: str, mode: str) -> Json:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def csi_objects(draw: Draw, node_names: list[str]) -> list[Json]:
    """Return how many volumes each node takes, and where the driver has capacity."""
    found: list[Json] = []
    for name in node_names:
        migrated = draw.some(tuple(MIGRATED)) if draw.has("migrated", 0.8) else []
        names = [*draw.some((DRIVER, OTHER_DRIVER)), *migrated]
        if drivers := [csi_driver(draw, driver, name) for driver in names]:
            found.append(_csi_node(name, drivers, migrated))
    if draw.has("capacity", 0.6):
        found.append(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIDriver",
                "metadata": {"name": DRIVER},
                "spec": {"storageCapacity": draw.chance(0.8)},
            }
        )
        found += [_capacity(draw, i) for i in range(draw.number(0, 3))]
    return found


def _csi_node(name: str, drivers: list[Json], migrated: list[str]) -> Json:
    """`migrated`: drivers that serve what was a plugin within Kubernetes."""
    metadata: Json = {"name": name}
    if migrated:
        plugins = ",".join(f"kubernetes.io/{MIGRATED[driver]}" for driver in migrated)
        metadata["annotations"] = {"storage.alpha.kubernetes.io/migrated-plugins": plugins}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": metadata,
        "spec": {"drivers": drivers},
    }


def csi_driver(draw: Draw, driver: str, node_name: str) -> Json:
    found: Json = {"name": driver, "nodeID": node_name, "topologyKeys": None}
    if draw.chance(0.8):
        found["allocatable"] = {"count": draw.number(0, 3)}
    return found


def _capacity(draw: Draw, i: int) -> Json:
    found: Json = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": f"capacity{i}", "namespace": "default"},
        "storageClassName": draw.one(("late", "zoned")),
        "capacity": draw.one(("1Gi", "6Gi", "100Gi")),
    }
    if draw.chance(0.8):
        zone = draw.one(("zone-a", "zone-b"))
        found["nodeTopology"] = {"matchLabels": {ZONE: zone}}
    if draw.chance(0.2):
        found["maximumVolumeSize"] = "4Gi"
    return found


class Claims:
    """The claims of one document, made as pods ask for them."""

    def __init__(self, draw: Draw, node_names: list[str], *, bound_only: bool) -> None:
        """`bound_only`: nothing is left for a volume controller to do."""
        self._draw = draw
        self._node_names = node_names
        self._bound_only = bound_only
        self._names: dict[str, list[str]] = {namespace: [] for namespace in NAMESPACES}
        self._n_made = 0
        self.objects: list[Json] = []

    def give_to(self, pod: Json) -> None:
        """Let the pod use up to three volumes."""
        draw, namespace = self._draw, pod["metadata"]["namespace"]
        volumes: list[Json] = []
        for i in range(draw.number(1, 3)):
            kind = draw.one(("claim", "claim", "claim", "shared", "disk", "ephemeral", "empty"))
            volumes.append({"name": f"v{i}", **self._source(kind, pod, namespace, f"v{i}")})
        pod["spec"]["volumes"] = volumes

    def _source(self, kind: str, pod: Json, namespace: str, volume: str) -> Json:
        draw, known = self._draw, self._names[namespace]
        match kind:
            case "shared" if known:
                return {"persistentVolumeClaim": {"claimName": draw.one(known)}}
            case "disk":
                return disk(draw)
            case "ephemeral" if not self._bound_only:
                self._claim(namespace, f"{pod['metadata']['name']}-{volume}", owner=pod)
                return {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
            case "empty":
                return {"emptyDir": {}}
        if draw.chance(0.04):
            return {"persistentVolumeClaim": {"claimName": "missing"}}
        self._n_made += 1
        name = f"claim{self._n_made}"
        self._claim(namespace, name)
        return {"persistentVolumeClaim": {"claimName": name}}

    def _claim(self, namespace: str, name: str, owner: Json | None = None) -> None:
        draw = self._draw
        metadata: Json = {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}"}
        if owner is not None and draw.chance(0.9):
            metadata["ownerReferences"] = [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": owner["metadata"]["name"],
                    "uid": owner["metadata"]["uid"],
                    "controller": True,
                }
            ]
        storage_class = draw.one(CLASSES)
        mode = "ReadWriteOncePod" if draw.has("rwop", 0.5) else draw.one(MODES)
        claim: Json = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": metadata,
            "spec": {
                "accessModes": [mode],
                "resources": {"requests": {"storage": draw.one(("1Gi", "5Gi"))}},
                "storageClassName": storage_class,
                "volumeMode": "Filesystem",
            },
            "status": {"phase": "Pending"},
        }
        if draw.has("matching"):
            self._particular(claim)
        self._names[namespace].append(name)
        if self._bound_only or draw.chance(0.6):
            self._bind(claim, f"pv-{namespace}-{name}")
        elif storage_class == "local" and draw.chance(0.9):
            self.objects += [
                self._local(claim, f"local-{_id(claim)}-{i}", mode)
                for i in range(draw.number(1, 3))
            ]
        self.objects.append(claim)

    def _particular(self, claim: Json) -> None:
        """Let the claim want more of a volume than its class, or be in a state of its own."""
        draw, spec, metadata = self._draw, claim["spec"], claim["metadata"]
        match draw.one(("selector", "block", "none", "annotation", "modes", "gone", "lost", "of")):
            case "selector":
                spec["selector"] = {"matchLabels": {"tier": draw.one(("fast", "slow"))}}
            case "block":
                spec["volumeMode"] = "Block"
            case "none":
                spec["storageClassName"] = draw.one(("", "unknown"))
            case "annotation":
                key = "volume.beta.kubernetes.io/storage-class"
                metadata["annotations"] = {key: draw.one(CLASSES)}
            case "modes":
                spec["accessModes"] = draw.some(MODES[1:], 1)
            case "gone":
                metadata["deletionTimestamp"] = "2025-12-31T23:30:00Z"
            case "lost":
                claim["status"] = {"phase": "Lost"}
            case "of":
                spec["volumeName"] = draw.one(("nowhere", f"local-{_id(claim)}-0"))

    def _bind(self, claim: Json, volume_name: str) -> None:
        draw, spec, metadata = self._draw, claim["spec"], claim["metadata"]
        spec["volumeName"] = volume_name
        claim["status"] = {"phase": "Bound"}
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        if draw.chance(0.03):
            return
        volume = self._volume(volume_name, spec["storageClassName"], spec["accessModes"][0])
        volume["spec"]["claimRef"] = {
            "kind": "PersistentVolumeClaim",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
        }
        volume["metadata"]["annotations"] = {"pv.kubernetes.io/bound-by-controller": "yes"}
        volume["status"] = {"phase": "Bound"}
        self.objects.append(volume)
        if self._node_names and draw.has("attachments"):
            self.objects.append(_attachment(volume, draw.one(self._node_names)))

    def _local(self, claim: Json, name: str, mode: str) -> Json:
        """Return a volume that may suit the claim, now and then reserved for it or for another."""
        draw = self._draw
        volume = self._volume(name, "local", mode)
        spec = volume["spec"]
        if draw.has("matching", 0.4):
            volume["metadata"]["labels"]["tier"] = draw.one(("fast", "slow"))
        if draw.has("matching", 0.4):
            spec["volumeMode"] = draw.one(("Block", "Filesystem"))
            spec["accessModes"] = draw.some(MODES[1:], 1)
        if draw.has("matching", 0.2):
            owner = {k: claim["metadata"][k] for k in ("name", "namespace", "uid")}
            other = {"name": "other", "namespace": "default", "uid": "default/other"}
            by_name = {k: owner[k] for k in ("name", "namespace")}
            spec["claimRef"] = {
                "kind": "PersistentVolumeClaim",
                **draw.one((owner, by_name, other)),
            }
        if draw.has("matching", 0.1):
            volume["metadata"]["deletionTimestamp"] = "2025-12-31T23:30:00Z"
        return volume

    def _volume(self, name: str, storage_class: str, mode: str) -> Json:
        draw = self._draw
        spec: Json = {
            "capacity": {"storage": draw.one(("4Gi", "6Gi", "10Gi"))},
            "accessModes": [mode],
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": storage_class,
            "volumeMode": "Filesystem",
        }
        if storage_class == "local":
            spec["local"] = {"path": f"/mnt/{name}"}
        elif draw.has("disks", 0.2):
            spec |= disk(draw)
        else:
            driver = draw.one((DRIVER, DRIVER, OTHER_DRIVER))
            spec["csi"] = {"driver": driver, "volumeHandle": f"{name}-handle"}
        if storage_class == "local" or draw.chance(0.3):
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [self._where()]}}
        labels: Json = {}
        if draw.has("zonelabels", 0.4):
            labels[ZONE] = draw.one(("zone-a", "zone-b", "zone-a__zone-c"))
        if draw.has("zonelabels", 0.2):
            labels[REGION] = "r1"
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name, "labels": labels},
            "spec": spec,
            "status": {"phase": "Available"},
        }

    def _where(self) -> Json:
        draw = self._draw
        if self._node_names and draw.chance(0.5):
            names = draw.some(draw.shuffled(self._node_names), 1, 2)
            return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": names}]}
        zones = draw.some(("zone-a", "zone-b", "zone-c"), 1, 2)
        return {"matchExpressions": [{"key": ZONE, "operator": "In", "values": zones}]}


def _id(claim: Json) -> str:
    return f"{claim['metadata']['namespace']}-{claim['metadata']['name']}"


def _attachment(volume: Json, node_name: str) -> Json:
    name = volume["metadata"]["name"]
    csi = volume["spec"].get("csi", {"driver": DRIVER})
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": f"attached-{name}"},
        "spec": {
            "attacher": csi["driver"],
            "nodeName": node_name,
            "source": {"persistentVolumeName": name},
        },
        "status": {"attached": True},
    }
