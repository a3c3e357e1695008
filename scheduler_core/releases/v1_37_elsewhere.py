"""Gates of Kubernetes v1.37 that kube-scheduler knows but does not read: what v1.36 has not so.

A gate that graduated is not taken for locked, and one that v1.37 dropped is still taken: which
those are, the list of gates in the documentation of v1.37 does not say. Either way the scheduler
decides the same.

Upstream: v1.37 feature gates of kubernetes.io, and v1.37 pkg/features.
"""

from __future__ import annotations

from typing import Final

from scheduler_core.releases.table import OtherGate
from scheduler_core.releases.v1_36_elsewhere import ELSEWHERE as OF_1_36

_NEW_ON: Final = """
    EtcdRangeStream ExcludeAdmissionWebhookVirtualResources HugepageAwareEviction KubeProxyIPVS
"""
_NEW_OFF: Final = """
    APIServerWebhookAuthenticationToken AtomicWriteVolumeUserFields DRAPartitionableDevicesType
    DefaultPodSysctls EmptyDirVolumeMode EvictionRequestAPI GRPCContainerProbeTLS H2CContainerProbe
    InPlacePodVerticalScalingMemoryBackedVolumes KubeProxyNFTablesLocalhostNodePorts
    KubeletAllocatedPodsEndpoint NodeLifecycleConditions StatefulSetRecreateStrategy
    VolumeBindMountOptions
"""
_ON_NOW: Final = """
    AllowUnsafeMalformedObjectDeletion ClusterTrustBundle ClusterTrustBundleProjection
    ConcurrentWatchObjectDecode HPAScaleToZero KubeletInUserNamespace
    ManifestBasedAdmissionControlConfig MaxUnavailableStatefulSet MemoryQoS
    PersistentVolumeClaimUnusedSinceTime PodCertificateRequest PodsAPI SELinuxMount
"""
_REQUIRES: Final[dict[str, tuple[str, ...]]] = {
    "DRAPartitionableDevicesType": ("DRAResourcePoolStatus",),
}

ELSEWHERE: Final[dict[str, OtherGate]] = {
    **OF_1_36,
    **{name: OtherGate(default=True) for name in _NEW_ON.split()},
    **{name: OtherGate(False, requires=_REQUIRES.get(name, ())) for name in _NEW_OFF.split()},
    **{name: OtherGate(True, requires=OF_1_36[name].requires) for name in _ON_NOW.split()},
}
