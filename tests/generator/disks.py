"""Random disks of the volume plugins that were once part of Kubernetes."""

from __future__ import annotations

from typing import Final

from tests.generator.draw import Draw, Json

MIGRATED: Final = {
    "ebs.csi.aws.com": "aws-ebs",
    "pd.csi.storage.gke.io": "gce-pd",
    "cinder.csi.openstack.org": "cinder",
    "disk.csi.azure.com": "azure-disk",
    "pxd.portworx.com": "portworx-volume",
    "file.csi.azure.com": "azure-file",
    "csi.vsphere.vmware.com": "vsphere-volume",
}
"""The CSI drivers that serve them now, with the name each plugin had."""


def disk(draw: Draw) -> Json:
    """Return a volume that names a disk, of which some may be mounted once only."""
    name, read_only = draw.one(("disk-1", "disk-2")), draw.chance(0.5)
    if draw.has("migrated", 0.5):
        return draw.one(
            (
                {"cinder": {"volumeID": name, "readOnly": read_only}},
                {"azureDisk": {"diskName": name, "diskURI": f"/subscriptions/s/disks/{name}"}},
                {"portworxVolume": {"volumeID": name, "readOnly": read_only}},
                {"vsphereVolume": {"volumePath": f"[store] {name}"}},
                {"awsElasticBlockStore": {"volumeID": f"aws://zone-a/vol-{name}"}},
                {"gcePersistentDisk": {"pdName": name, "partition": 2}},
            )
        )
    return draw.one(
        (
            {"gcePersistentDisk": {"pdName": name, "readOnly": read_only}},
            {"awsElasticBlockStore": {"volumeID": name, "readOnly": read_only}},
            {"iscsi": {"targetPortal": "10.0.0.1", "iqn": name, "lun": 0, "readOnly": read_only}},
            {"rbd": {"monitors": ["a", "b"], "pool": "p", "image": name, "readOnly": read_only}},
        )
    )
