"""Random changes to what is neither a pod nor a node."""

from __future__ import annotations

from tests.generator.devices import EXPRESSIONS
from tests.generator.draw import Draw, Json
from tests.generator.selectors import POD_LABELS, ZONE, label_selector
from tests.generator.storage import DRIVER, csi_driver


def object_patch(draw: Draw, item: Json) -> Json:
    """Return a merge patch that may matter to the scheduler."""
    match item["kind"]:
        case "ResourceClaim":
            return _of_resource_claim(draw)
        case "ResourceSlice":
            return _of_resource_slice(draw, item)
        case "DeviceClass":
            expressions = draw.some(EXPRESSIONS[:-1], 0, 1)
            return {"spec": {"selectors": [{"cel": {"expression": each}} for each in expressions]}}
        case "CSINode":
            return {"spec": {"drivers": [csi_driver(draw, DRIVER, item["metadata"]["name"])]}}
        case "StorageClass":
            zones = {"key": ZONE, "values": draw.some(("zone-a", "zone-b", "zone-c"), 1)}
            return {"allowedTopologies": [{"matchLabelExpressions": [zones]}]}
        case "PersistentVolume":
            return {"metadata": {"labels": {ZONE: draw.one(("zone-a", "zone-b", None))}}}
        case "PodDisruptionBudget":
            return _of_budget(draw)
        case "Namespace":
            labels = {"env": draw.one(("prod", "dev")), "team": draw.one(("a", "b", None))}
            return {"metadata": {"labels": labels}}
        case "Service":
            return {"spec": {"selector": {"app": draw.one(POD_LABELS["app"])}}}
        case "ReplicaSet":
            return {"spec": {"selector": {"matchLabels": {"tier": draw.one(("fe", "be"))}}}}
    return _plain(draw, item)


def _plain(draw: Draw, item: Json) -> Json:
    if item["kind"] == "CSIStorageCapacity":
        return {"capacity": draw.one(("1Gi", "6Gi", "100Gi"))}
    return {"metadata": {"annotations": {"note": str(draw.number(1, 9))}}}


def _of_resource_claim(draw: Draw) -> Json:
    """Return what its users, or the controller that frees devices, write into a claim."""
    other = {"resource": "pods", "name": "other", "uid": "default/other"}
    freed: Json = {"allocation": None, "reservedFor": None}
    return {"status": draw.one((freed, freed, {"reservedFor": None}, {"reservedFor": [other]}))}


def _of_resource_slice(draw: Draw, item: Json) -> Json:
    """Return what a driver says anew: devices gone, tainted or fine again, a new generation."""
    pool, devices = item["spec"]["pool"], item["spec"].get("devices")
    if not devices or draw.chance(0.2):
        return {"spec": {"pool": {"generation": pool["generation"] + 1}}}
    if draw.chance(0.3):
        return {"spec": {"devices": draw.some(devices, 1)}}
    taint = {"key": "bad", "effect": "NoSchedule", "timeAdded": "2025-12-31T23:00:00Z"}
    told = [{k: v for k, v in device.items() if k != "taints"} for device in devices]
    if draw.chance(0.5):
        told = [device | {"taints": [taint]} for device in told]
    return {"spec": {"devices": told}}


def _of_budget(draw: Draw) -> Json:
    if draw.chance(0.7):
        return {"status": {"disruptionsAllowed": draw.number(0, 2)}}
    return {"spec": {"selector": label_selector(draw)}}
