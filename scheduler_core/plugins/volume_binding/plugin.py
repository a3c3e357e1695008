"""The plugin at its extension points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.api import PersistentVolume, PersistentVolumeClaim
from scheduler_core.api.claims import claims_of
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import VolumeBindingArgs
from scheduler_core.framework.dependence import DependsOn, PreparedFrom
from scheduler_core.framework.events import ClusterEventWithHint
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Prepared, Scores
from scheduler_core.framework.signatures import Signed, volumes
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, Verdict
from scheduler_core.plugins.volume_binding import binding, hints, scoring
from scheduler_core.plugins.volume_binding.assume import AssumeCache, Assumption
from scheduler_core.plugins.volume_binding.binder import Binder, PodVolumes
from scheduler_core.plugins.volume_binding.pod_claims import ClaimSorter, claims_problem
from scheduler_core.plugins.volume_binding.topology import VolumeTopology

NO_STATE: Final = "not found"
UNBOUND_IMMEDIATE: Final = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(frozen=True, eq=False)
class Reserved:
    """What is assumed for a pod between Reserve and PreBind."""

    volumes: Sequence[Assumption[PersistentVolume]] = ()
    claims: Sequence[Assumption[PersistentVolumeClaim]] = ()


class VolumeBinding:
    """Reject nodes where a claim's volume cannot be used, and none found or made.

    Claims of classes that wait for their first consumer get a volume that suits the node: the
    smallest existing one that does, or one to be made where the class allows and there is room.
    The choice is assumed at Reserve and written at PreBind.

    Upstream: v1.36 plugins/volumebinding.
    """

    name = "VolumeBinding"
    depends_on = DependsOn(prepared=PreparedFrom.TEMPLATE_WITHOUT_VOLUMES)

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        self._handle = handle
        scores = handle.features.enabled("StorageCapacityScoring")
        self.shape = scoring.shape_function(args.shape or ()) if scores else None
        objects = handle.objects
        self.volumes = AssumeCache(objects, PersistentVolume)
        self._claims = AssumeCache(objects, PersistentVolumeClaim)
        self._sorter = ClaimSorter(objects, self._claims, self.volumes)
        self._binder: Binder | None = None
        self._reserved: dict[str, Reserved] = {}

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (volumes(pod.pod.spec),)

    # ------------------------------------------------------------ filtering

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[PodVolumes] | Status:
        problem = claims_problem(pod.pod, self._handle.objects)
        if problem:
            return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (problem,))
        if not any(claims_of(pod.pod)):
            return SKIP
        claims = self._sorter.sort(pod.pod)
        if claims.immediate:
            return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (UNBOUND_IMMEDIATE,))
        return Prepared(self.binder.find_pod_volumes(claims))

    @property
    def binder(self) -> Binder:
        if self._binder is None:
            topology = VolumeTopology(self._handle.cluster, self._handle.objects)
            self._binder = Binder(self._handle.objects, self.volumes, topology)
        return self._binder

    def filter(self, state: PodVolumes | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if state is None:
            return Verdict.error(nodes.n, NO_STATE)
        return state.verdict(nodes)

    # ------------------------------------------------------------ scoring

    def pre_score(
        self, state: object, pod: PodInfo, nodes: Nodes
    ) -> Prepared[PodVolumes | None] | Status:
        if self.shape is None:
            return SKIP
        return Prepared(state if isinstance(state, PodVolumes) else None)

    def score(self, state: PodVolumes | None, pod: PodInfo, nodes: Nodes) -> Scores:
        if state is None or self.shape is None:
            return np.zeros(nodes.n, np.int64)
        return scoring.score(state, nodes, self.shape)

    # ------------------------------------------------------------ reserving and binding

    def reserve(self, state: PodVolumes | None, pod: PodInfo, node_name: str) -> Status:
        """Assume the volumes and claims as they will be on the node."""
        if state is None or self._sorter.all_bound(pod.pod):
            return SUCCESS
        row = self._handle.cluster.row_of[node_name]
        self._reserved[pod.uid] = Reserved(
            [
                self.volumes.assume(binding.claimed(volume, claim))
                for volume, claim in state.static_bindings(row)
            ],
            [
                self._claims.assume(binding.selected(claim, node_name))
                for claim in state.dynamic_provisions(row)
            ],
        )
        return SUCCESS

    def unreserve(self, state: PodVolumes | None, pod: PodInfo, node_name: str) -> None:
        reserved = self._reserved.pop(pod.uid, Reserved())
        for volume in reserved.volumes:
            self.volumes.restore(volume)
        for claim in reserved.claims:
            self._claims.restore(claim)

    def pre_bind_pre_flight(self, state: PodVolumes | None, pod: PodInfo, node_name: str) -> Status:
        return SUCCESS if pod.uid in self._reserved else SKIP

    def pre_bind(self, state: PodVolumes | None, pod: PodInfo, node_name: str) -> Status:
        """Write what was assumed; the cluster's controllers complete the binding at once."""
        reserved = self._reserved.get(pod.uid)
        if reserved is None:
            return SUCCESS
        objects = self._handle.objects
        for volume in reserved.volumes:
            if refusal := self.volumes.refusal(volume):
                return Status(Code.ERROR, (refusal,))
            self._handle.write(volume.item)
            binding.complete_binding(volume.item, objects, self._handle.write)
        for claim in reserved.claims:
            # A claim that two volumes of the pod name is written twice: the second time in vain.
            if refusal := self._claims.refusal(claim):
                return Status(Code.ERROR, (refusal,))
            self._handle.write(claim.item)
            binding.provision(claim.item, self._handle.cluster, objects, self._handle.write)
        self.unreserve(state, pod, node_name)
        return SUCCESS

    # ------------------------------------------------------------ events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return hints.events()
