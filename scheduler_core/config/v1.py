"""A configuration file as it is written, before defaults: what strict decoding reads it into.

Only what differs from `types` is spelled out here: absent values that depend on something else.

Upstream: v1.36 staging/src/k8s.io/kube-scheduler/config/v1/types.go.
"""

from __future__ import annotations

from scheduler_core.config.types import (
    ClientConnection,
    ConfigStruct,
    Extender,
    Int32,
    Int64,
    LeaderElection,
    Plugins,
)


class PluginConfigV1(ConfigStruct, frozen=True, kw_only=True):
    """`args` stays as it is: the plugin's name says what to decode it into."""

    name: str = ""
    args: object = None


class ProfileV1(ConfigStruct, frozen=True, kw_only=True):
    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfigV1, ...] = ()


class ConfigurationV1(ConfigStruct, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    parallelism: Int32 = 16
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: tuple[ProfileV1, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
