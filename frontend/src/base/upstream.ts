// Facts about kube-scheduler v1.36 that a trace does not repeat: which cluster events can wake a
// pod that a plugin turned down. Upstream: v1.36 pkg/scheduler/framework/plugins/*, EventsToRegister.

const NODE_CHANGES = ["NodeAdd", "NodeUpdateNodeTaint", "NodeUpdateNodeLabel"];

const WAKING: Record<string, readonly string[]> = {
  SchedulingGates: ["PodUpdatePodSchedulingGatesEliminated"],
  NodeUnschedulable: ["NodeAdd", "NodeUpdateNodeTaint", "PodUpdatePodToleration"],
  NodeName: ["NodeAdd"],
  TaintToleration: ["NodeAdd", "NodeUpdateNodeTaint", "PodUpdatePodToleration"],
  NodeAffinity: NODE_CHANGES,
  NodePorts: ["AssignedPodDelete", "NodeAdd"],
  NodeResourcesFit: ["AssignedPodDelete", "PodUpdatePodScaleDown", "NodeAdd", "NodeUpdateNodeAllocatable"],
  VolumeRestrictions: ["AssignedPodDelete", "NodeAdd", "PersistentVolumeClaimAdd"],
  NodeVolumeLimits: [
    "CSINodeAdd",
    "CSINodeUpdate",
    "AssignedPodDelete",
    "PersistentVolumeClaimAdd",
    "VolumeAttachmentDelete",
  ],
  VolumeBinding: [
    "StorageClassAdd",
    "StorageClassUpdate",
    "PersistentVolumeClaimAdd",
    "PersistentVolumeClaimUpdate",
    "PersistentVolumeAdd",
    "PersistentVolumeUpdate",
    ...NODE_CHANGES,
    "CSINodeAdd",
    "CSINodeUpdate",
    "CSIDriverUpdate",
    "CSIStorageCapacityAdd",
    "CSIStorageCapacityUpdate",
  ],
  VolumeZone: [
    "StorageClassAdd",
    "NodeAdd",
    "NodeUpdateNodeLabel",
    "PersistentVolumeClaimAdd",
    "PersistentVolumeClaimUpdate",
    "PersistentVolumeAdd",
    "PersistentVolumeUpdate",
  ],
  PodTopologySpread: [
    "PodAdd",
    "PodUpdatePodLabel",
    "PodDelete",
    "NodeAdd",
    "NodeDelete",
    "NodeUpdateNodeLabel",
    "NodeUpdateNodeTaint",
  ],
  InterPodAffinity: ["PodAdd", "PodUpdatePodLabel", "PodDelete", "NodeAdd", "NodeUpdateNodeLabel"],
  DynamicResources: [
    "NodeAdd",
    "ResourceClaimAdd",
    "ResourceClaimUpdate",
    "PodUpdatePodGeneratedResourceClaim",
    "DeviceClassAdd",
    "DeviceClassUpdate",
    "ResourceSliceAdd",
    "ResourceSliceUpdate",
  ],
  DefaultPreemption: ["PodDelete"],
  NodeDeclaredFeatures: ["NodeAdd", "NodeUpdateNodeDeclaredFeature", "PodUpdate"],
};

/** Labels of the cluster events a plugin listens to; null for a plugin kviz does not know. */
export const wakingEvents = (plugin: string): readonly string[] | null => WAKING[plugin] ?? null;

/** Pods stay in unschedulablePods for at most this long. */
export const UNSCHEDULABLE_FLUSH_MINUTES = 5;
