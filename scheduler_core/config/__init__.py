"""The scheduler's configuration: KubeSchedulerConfiguration v1, feature gates, resolved profiles."""

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
    "ExtensionPoint",
    "JsonValue",
    "KubeSchedulerConfiguration",
    "Plugin",
    "PluginConfig",
    "PluginSet",
    "Plugins",
    "Profile",
]
