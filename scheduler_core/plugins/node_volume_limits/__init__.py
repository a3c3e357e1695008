"""NodeVolumeLimits: a CSI driver can attach only so many volumes to a node.

Upstream: v1.36 plugins/nodevolumelimits.
"""

from scheduler_core.plugins.node_volume_limits.plugin import NodeVolumeLimits

__all__ = ["NodeVolumeLimits"]
