"""Random devices, and claims for them."""

from __future__ import annotations

from typing import Final

from tests.generator.draw import Draw, Json
from tests.generator.selectors import ZONE

GPU: Final = "gpu.example.com"
NIC: Final = "nic.example.com"
EXPRESSIONS: Final = (
    f'device.driver == "{GPU}"',
    f'device.attributes["{GPU}"].model == "a100"',
    f'device.attributes["{GPU}"].numa == 1',
    f'device.attributes["{GPU}"].index < 2',
    f'device.attributes["{GPU}"].version.isGreaterThan(semver("1.2.0"))',
    f'device.capacity["{GPU}"].memory.compareTo(quantity("30Gi")) > 0',
    f'device.capacity["{GPU}"].memory.isGreaterThan(quantity("20Gi"))',
    f'"numa" in device.attributes["{GPU}"]',
    f'device.attributes["{GPU}"].model.startsWith("h")',
    f'device.attributes["{GPU}"].?numa.orValue(0) == 0',
    "device.allowMultipleAllocations == true",
    f'device.attributes["{GPU}"].absent == 1',
)


class Devices:
    """The devices of one document, and the claims made as pods ask for them."""

    def __init__(self, draw: Draw, node_names: list[str]) -> None:
        self._draw = draw
        self._node_names = node_names
        self._n_claims = 0
        self._shared: list[str] = []
        self.claims: list[Json] = []

    # ------------------------------------------------------------ what there is

    def inventory(self) -> list[Json]:
        """Return classes, slices, and claims that hold some of the devices."""
        found = [*self._classes()]
        held: list[Json] = []
        for name in self._node_names:
            if self._draw.chance(0.8):
                slices = self._pool(name)
                found += slices
                held += self._held(name, slices)
        if self._draw.chance(0.5):
            found.append(self._nics())
        return [*found, *held]

    def _classes(self) -> list[Json]:
        gpu: Json = {"selectors": [_cel(EXPRESSIONS[0])]}
        if self._draw.chance(0.4):
            gpu["extendedResourceName"] = "example.com/gpu"
        if self._draw.chance(0.3):
            opaque = {"driver": GPU, "parameters": {"mode": "fast"}}
            gpu["config"] = [{"opaque": opaque}]
        nic = {"selectors": [_cel(f'device.driver == "{NIC}"')]}
        return [_class("gpu", gpu), _class("nic", nic), _class("any", {})]

    def _pool(self, node_name: str) -> list[Json]:
        draw = self._draw
        devices = [self._gpu(i) for i in range(draw.number(1, 4))]
        counters: list[Json] = []
        if draw.chance(0.25):
            counters = [{"name": "pool", "counters": {"memory": {"value": "80Gi"}}}]
            for device in devices:
                used = {"memory": {"value": draw.one(("20Gi", "40Gi"))}}
                device["consumesCounters"] = [{"counterSet": "pool", "counters": used}]
        parts = [devices]
        if len(devices) > 1 and draw.chance(0.3) and not counters:
            parts = [devices[1:], devices[:1]]
        n_slices = len(parts) + (1 if counters else 0)
        n_told = n_slices + (1 if draw.chance(0.05) else 0)
        slices = [
            self._slice(f"{node_name}-{'ba'[i]}", node_name, n_told, {"devices": part})
            for i, part in enumerate(parts)
        ]
        if counters:
            shared = {"sharedCounters": counters}
            slices.append(self._slice(f"{node_name}-c", node_name, n_told, shared))
        return slices

    def _slice(self, name: str, node_name: str, n_slices: int, content: Json) -> Json:
        pool = {"name": node_name, "generation": 1, "resourceSliceCount": n_slices}
        spec = {"driver": GPU, "pool": pool, "nodeName": node_name, **content}
        if "devices" in content and self._draw.has("reach", 0.3):
            self._reach(spec, node_name)
        return _resource("ResourceSlice", {"name": name}, spec)

    def _reach(self, spec: Json, node_name: str) -> None:
        """Say in another way from which nodes the devices can be used."""
        del spec["nodeName"]
        zone = {"key": ZONE, "operator": "In", "values": ["zone-a"]}
        selector = {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}
        if self._draw.chance(0.5):
            spec["nodeSelector"] = selector
            return
        spec["perDeviceNodeSelection"] = True
        ways = ({"nodeName": node_name}, {"allNodes": True}, {"nodeSelector": selector})
        spec["devices"] = [device | self._draw.one(ways) for device in spec["devices"]]

    def _gpu(self, i: int) -> Json:
        draw = self._draw
        attributes: Json = {"model": {"string": draw.one(("a100", "h200", "l4"))}}
        if draw.chance(0.8):
            attributes["numa"] = {"int": draw.number(0, 1)}
        attributes["index"] = {"int": i}
        if draw.chance(0.5):
            attributes["version"] = {"version": draw.one(("1.0.0", "1.3.0", "2.0.0"))}
        if draw.chance(0.3):
            attributes["resource.kubernetes.io/pcieRoot"] = {"string": draw.one(("p0", "p1"))}
        device: Json = {
            "name": f"g{i}",
            "attributes": attributes,
            "capacity": {"memory": {"value": draw.one(("20Gi", "40Gi", "80Gi"))}},
        }
        if draw.has("taints", 0.3):
            effect = draw.one(("NoSchedule", "NoExecute", "None"))
            taint = {"key": "bad", "value": "x", "effect": effect}
            device["taints"] = [taint | {"timeAdded": "2025-12-31T23:00:00Z"}]
        if draw.has("conditions", 0.3):
            device["bindingConditions"] = ["attached"]
            device["bindingFailureConditions"] = ["broken"]
            device["bindsToNode"] = draw.chance(0.5)
        if draw.chance(0.2):
            device["allowMultipleAllocations"] = True
            if draw.chance(0.6):
                device["capacity"]["memory"]["requestPolicy"] = self._policy()
        return device

    def _policy(self) -> Json:
        if self._draw.chance(0.5):
            return {"default": "10Gi", "validValues": ["10Gi", "20Gi"]}
        return {"default": "5Gi", "validRange": {"min": "5Gi", "step": "5Gi", "max": "20Gi"}}

    def _nics(self) -> Json:
        devices = [
            {"name": f"nic{i}", "attributes": {"speed": {"int": self._draw.one((10, 100))}}}
            for i in range(self._draw.number(1, 3))
        ]
        pool = {"name": "net", "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": NIC, "pool": pool, "allNodes": True, "devices": devices}
        return _resource("ResourceSlice", {"name": "nics"}, spec)

    def _held(self, node_name: str, slices: list[Json]) -> list[Json]:
        """Return claims that hold devices of the node, for pods that are not there."""
        found = []
        for device in slices[0]["spec"].get("devices", ()):
            if device.get("allowMultipleAllocations") or not self._draw.chance(0.3):
                continue
            name = f"held-{node_name}-{device['name']}"
            request = {"name": "r0", "exactly": _exactly("gpu", 1)}
            result = {
                "request": "r0",
                "driver": GPU,
                "pool": node_name,
                "device": device["name"],
            }
            field = {"key": "metadata.name", "operator": "In", "values": [node_name]}
            allocation = {
                "devices": {"results": [result]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
            }
            user = {"resource": "pods", "name": "gone", "uid": "default/gone"}
            reserved = [user] if self._draw.chance(0.7) else []
            claim = _claim(name, "default", {"devices": {"requests": [request]}})
            claim["status"] = {"allocation": allocation, "reservedFor": reserved}
            found.append(claim)
            if self._draw.chance(0.4):
                self._shared.append(name)
        return found

    # ------------------------------------------------------------ what pods ask for

    def give_to(self, pod: Json) -> None:
        """Let the pod use one or two claims."""
        draw, spec = self._draw, pod["spec"]
        names = {self._name_for(pod): None for _ in range(draw.one((1, 1, 2)))}
        references = [{"name": f"d{i}", "resourceClaimName": name} for i, name in enumerate(names)]
        spec["resourceClaims"] = references
        resources = spec["containers"][0].setdefault("resources", {})
        resources["claims"] = [{"name": reference["name"]} for reference in references]

    def _name_for(self, pod: Json) -> str:
        draw, namespace = self._draw, pod["metadata"]["namespace"]
        if namespace == "default" and self._shared and draw.chance(0.25):
            return draw.one(self._shared)
        if draw.chance(0.03):
            return "missing"
        name = f"claim-{self._n_claims}"
        self._n_claims += 1
        claim = _claim(name, namespace, {"devices": self._device_claim()})
        if namespace == "default" and draw.chance(0.3):
            self._shared.append(name)
        self.claims.append(claim)
        return name

    def _device_claim(self) -> Json:
        draw = self._draw
        requests = [self._request(f"r{i}") for i in range(draw.one((1, 1, 2)))]
        found: Json = {"requests": requests}
        if draw.chance(0.3):
            attribute = draw.one((f"{GPU}/numa", f"{GPU}/model", "resource.kubernetes.io/pcieRoot"))
            constraint: Json = {draw.one(("matchAttribute", "distinctAttribute")): attribute}
            if draw.chance(0.3):
                constraint["requests"] = [requests[0]["name"]]
            found["constraints"] = [constraint]
        if draw.chance(0.2):
            opaque = {"driver": GPU, "parameters": {"mode": "slow"}}
            found["config"] = [{"requests": [requests[-1]["name"]], "opaque": opaque}]
        return found

    def _request(self, name: str) -> Json:
        if self._draw.chance(0.25):
            options = [{"name": f"s{i}", **self._exact()} for i in range(self._draw.number(1, 3))]
            return {"name": name, "firstAvailable": options}
        exactly = self._exact()
        if self._draw.chance(0.05):
            exactly["adminAccess"] = True
        return {"name": name, "exactly": exactly}

    def _exact(self) -> Json:
        draw = self._draw
        name = draw.one(("gpu", "gpu", "gpu", "nic", "any"))
        if draw.chance(0.02):
            name = "missing"
        found = _exactly(name, draw.one((1, 1, 1, 2, 3)))
        if draw.chance(0.15):
            found["allocationMode"] = "All"
            del found["count"]
        if name != "nic" and draw.chance(0.5):
            found["selectors"] = [_cel(each) for each in draw.some(EXPRESSIONS[:-1], 1, 2)]
        if draw.chance(0.01):
            found["selectors"] = [_cel(EXPRESSIONS[-1])]
        if draw.has("taints", 0.4):
            effect = draw.one(({}, {"effect": "NoSchedule"}))
            found["tolerations"] = [{"operator": "Exists", **effect}]
        if draw.chance(0.2):
            found["capacity"] = {"requests": {"memory": draw.one(("3Gi", "10Gi", "30Gi", "50Gi"))}}
        return found


def _exactly(class_name: str, count: int) -> Json:
    return {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": count}


def _cel(expression: str) -> Json:
    return {"cel": {"expression": expression}}


def _class(name: str, spec: Json) -> Json:
    return _resource("DeviceClass", {"name": name}, spec)


def _claim(name: str, namespace: str, spec: Json) -> Json:
    metadata = {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}"}
    return _resource("ResourceClaim", metadata, spec) | {"status": {}}


def _resource(kind: str, metadata: Json, spec: Json) -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": metadata,
        "spec": spec,
    }
