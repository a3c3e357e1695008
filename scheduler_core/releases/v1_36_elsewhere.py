"""Gates of Kubernetes v1.36 that kube-scheduler knows but does not read.

Clusters often give all components the same list of gates, so the scheduler takes these, too.

Upstream: v1.36 pkg/features, and those of apiserver, client-go and component-base.
"""

from __future__ import annotations

from typing import Final

from scheduler_core.releases.table import OtherGate

_ON: Final = """
    APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth
    AllowServiceExternalIPs AtomicFIFO AuthorizePodWebsocketUpgradeCreatePermission
    CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
    ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC
    ComponentFlagz ComponentStatusz ConstrainedImpersonation ContainerCheckpoint
    ContainerRestartRules CustomCPUCFSQuotaPeriod DeclarativeValidationBeta
    DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency
    DisableCPUQuotaWithExclusiveCPUs EnvFiles GracefulNodeShutdown
    GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride
    InOrderInformersBatchProcess InformerResourceVersion KubeletCrashLoopBackOffMax
    KubeletEnsureSecretPulledImages KubeletPodResourcesListUseActivePods KubeletSeparateDiskGC
    KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
    MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
    MutatingAdmissionPolicy OpenAPIEnums PLEGOnDemandRelist PodDeletionCost
    PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets
    PreventStaticPodAPIReferences RelaxedServiceNameValidation ReloadKubeletClientCAFile
    ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus
    ResourceHealthStatusMessage RotateKubeletServerCertificate
    ServiceAccountNodeAudienceRestriction ServiceCIDRStatusFieldWiping SizeBasedListCostEstimate
    StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
    StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet
    StatefulSetSemanticRevisionComparison StorageNamespaceIndex StorageVersionHash
    StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
    TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
    UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy
    UnlockWhileProcessingFIFO WatchCacheInitializationPostStartHook WatchList WatchListClient
    WindowsGracefulNodeShutdown
"""
_OFF: Final = """
    APIServingWithRoutine AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
    AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
    CRIListStreaming CSIVolumeHealth ChangeContainerStatusOnKubeletRestart ClientsAllowCBOR
    ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation
    CloudControllerManagerWebhook ClusterTrustBundle ClusterTrustBundleProjection
    ConcurrentWatchObjectDecode ContainerStopSignals CoordinatedLeaderElection
    CrossNamespaceVolumeDataSource DRAResourcePoolStatus DeclarativeValidationTakeover
    EventedPLEG HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveMemory
    KMSv1 KubeletInUserNamespace KubeletRegistrationGetOnExistsOnly
    LocalStorageCapacityIsolationFSQuotaMonitoring ManifestBasedAdmissionControlConfig
    MaxUnavailableStatefulSet MemoryQoS MutablePVNodeAffinity
    PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodCertificateRequest
    PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI QOSReserved
    ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi SELinuxMount
    ShardedListAndWatch StorageVersionAPI StorageVersionMigrator
    TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport
    WindowsCPUAndMemoryAffinity WindowsHostNetwork WorkloadWithJob
"""
_LOCKED_ON: Final = """
    APIServerTracing AggregatedDiscoveryRemoveBetaType AnonymousAuthConfigurableEndpoints
    AnyVolumeDataSource AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache
    CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets
    ConsistentListFromCache CustomResourceFieldSelectors DeclarativeValidation
    DisableAllocatorDualWrite DisableNodeKubeProxyVersion ExecProbeTimeout
    ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InOrderInformers
    JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy
    KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPSI
    KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing
    LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator
    MutableCSINodeAllocatableCount NFTablesProxyMode NodeLogQuery NodeSwap
    OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
    PodObservedGenerationTracking PodSchedulingReadiness PreferSameTrafficDistribution
    ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
    RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
    ResilientWatchCacheInitialization RetryGenerateName SELinuxChangePolicy
    SELinuxMountReadWriteOncePod SeparateTaintEvictionController ServiceAccountTokenJTI
    ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
    ServiceAccountTokenPodNodeInfo StreamingCollectionEncodingToJSON
    StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
    SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport
    WinDSR WinOverlay
"""
_LOCKED_OFF: Final = """
    AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
"""

_REQUIRES: Final[dict[str, tuple[str, ...]]] = {
    "ClusterTrustBundleProjection": ("ClusterTrustBundle",),
    "GracefulNodeShutdownBasedOnPodPriority": ("GracefulNodeShutdown",),
    "PodLevelResourceManagers": ("PodLevelResources",),
    "ResourceHealthStatusMessage": ("ResourceHealthStatus",),
    "StaleControllerConsistencyDaemonSet": ("AtomicFIFO",),
    "StaleControllerConsistencyJob": ("AtomicFIFO",),
    "StaleControllerConsistencyReplicaSet": ("AtomicFIFO",),
    "StaleControllerConsistencyStatefulSet": ("AtomicFIFO",),
    "StorageVersionAPI": ("APIServerIdentity",),
    "UnknownVersionInteroperabilityProxy": ("APIServerIdentity",),
    "UserNamespacesHostNetworkSupport": ("NodeDeclaredFeatures",),
    "WindowsGracefulNodeShutdown": ("GracefulNodeShutdown",),
    "WorkloadWithJob": ("GenericWorkload",),
}
"""Of what may be switched, what a gate cannot be on without. Locked gates are not named."""

ELSEWHERE: Final[dict[str, OtherGate]] = {
    name: OtherGate(default, locked, _REQUIRES.get(name, ()))
    for names, default, locked in (
        (_ON, True, False),
        (_OFF, False, False),
        (_LOCKED_ON, True, True),
        (_LOCKED_OFF, False, True),
    )
    for name in names.split()
}
"""By name, of gates that are on or off by default, and of those that are locked to that."""
