"""Gates of Kubernetes v1.36 that kube-scheduler knows but does not read.

Clusters often give all components the same list of gates, so the scheduler takes these, too.

Upstream: v1.36 pkg/features, and those of apiserver, client-go and component-base.
"""

from __future__ import annotations

from typing import Final

_FREE: Final = """
    APIResponseCompression APIServerIdentity APIServingWithRoutine AllowDNSOnlyNodeCSR
    AllowInsecureKubeletCertificateSigningRequests AllowParsingUserUIDFromCertAuth
    AllowServiceExternalIPs AllowUnsafeMalformedObjectDeletion AtomicFIFO
    AuthorizePodWebsocketUpgradeCreatePermission CBORServingAndStorage
    CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
    CRIListStreaming CSIVolumeHealth ChangeContainerStatusOnKubeletRestart
    ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowCBOR
    ClientsAllowTLSCacheGC ClientsPreferCBOR
    CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook
    ClusterTrustBundle ClusterTrustBundleProjection ComponentFlagz ComponentStatusz
    ConcurrentWatchObjectDecode ConstrainedImpersonation ContainerCheckpoint
    ContainerRestartRules ContainerStopSignals CoordinatedLeaderElection
    CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod
    DRAResourceClaimGranularStatusAuthorization DRAResourcePoolStatus DeclarativeValidationBeta
    DeclarativeValidationTakeover DeploymentReplicaSetTerminatingReplicas
    DetectCacheInconsistency DisableCPUQuotaWithExclusiveCPUs EnvFiles EventedPLEG
    ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority
    HPAConfigurableTolerance HPAScaleToZero HostnameOverride ImageVolumeWithDigest
    InOrderInformersBatchProcess InPlacePodVerticalScalingExclusiveMemory
    InPlacePodVerticalScalingInitContainers InformerResourceVersion KMSv1
    KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletInUserNamespace
    KubeletPodResourcesListUseActivePods KubeletRegistrationGetOnExistsOnly
    KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
    LocalStorageCapacityIsolationFSQuotaMonitoring ManifestBasedAdmissionControlConfig
    MatchLabelKeysInPodTopologySpreadSelectorMerge MaxUnavailableStatefulSet MemoryQoS
    MinimumKubeletVersion MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs
    MutableSchedulingDirectivesForSuspendedJobs MutatingAdmissionPolicy OpenAPIEnums
    PLEGOnDemandRelist PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI
    PodCertificateRequest PodDeletionCost PodLevelResourceManagers PodLogsQuerySplitStreams
    PodReadyToStartContainersCondition PodTopologyLabelsAdmission PodsAPI PortForwardWebsockets
    PreventStaticPodAPIReferences QOSReserved ReduceDefaultCrashLoopBackOffDecay
    RelaxedServiceNameValidation ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile
    RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
    RestartAllContainersOnContainerExits RotateKubeletServerCertificate
    RuntimeClassInImageCriApi SELinuxMount ServiceAccountNodeAudienceRestriction
    ServiceCIDRStatusFieldWiping ShardedListAndWatch SizeBasedListCostEstimate
    StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
    StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet
    StatefulSetSemanticRevisionComparison StorageNamespaceIndex StoragePerformantSecurityPolicy
    StorageVersionAPI StorageVersionHash StorageVersionMigrator StrictIPCIDRValidation
    StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
    TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions
    TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
    UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
    UserNamespacesHostNetworkSupport WatchCacheInitializationPostStartHook WatchList
    WatchListClient WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown WindowsHostNetwork
    WorkloadWithJob
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

ELSEWHERE: Final[dict[str, bool | None]] = {
    **dict.fromkeys(_FREE.split()),
    **dict.fromkeys(_LOCKED_ON.split(), True),
    **dict.fromkeys(_LOCKED_OFF.split(), False),
}
"""By name what a gate is locked to, None for one that may be switched."""
