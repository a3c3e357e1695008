"""The configuration of the scheduler: KubeSchedulerConfiguration v1, gates, profiles.

    text --load_configuration--> KubeSchedulerConfiguration --resolve_profiles--> ResolvedProfile

Both steps raise ConfigError with every problem they find.
"""

from scheduler_core.config.features import FeatureGates, feature_gates
from scheduler_core.config.load import default_configuration, load_configuration
from scheduler_core.config.problems import ConfigError, Problem
from scheduler_core.config.profile import (
    PluginRef,
    ResolvedProfile,
    resolve_profile,
    resolve_profiles,
)
from scheduler_core.config.source import located
from scheduler_core.config.types import (
    Args,
    ExtensionPoint,
    JsonValue,
    KubeSchedulerConfiguration,
    Plugin,
    PluginConfig,
    Plugins,
    PluginSet,
    Profile,
)

__all__ = [
    "Args",
    "ConfigError",
    "ExtensionPoint",
    "FeatureGates",
    "JsonValue",
    "KubeSchedulerConfiguration",
    "Plugin",
    "PluginConfig",
    "PluginRef",
    "PluginSet",
    "Plugins",
    "Problem",
    "Profile",
    "ResolvedProfile",
    "default_configuration",
    "feature_gates",
    "load_configuration",
    "located",
    "resolve_profile",
    "resolve_profiles",
]
