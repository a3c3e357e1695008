"""VolumeBinding: find, reserve and bind the volumes of a pod's claims.

Upstream: v1.36 plugins/volumebinding.
"""

from scheduler_core.plugins.volume_binding.plugin import VolumeBinding

__all__ = ["VolumeBinding"]
