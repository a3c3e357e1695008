"""InterPodAffinity: place pods near some pods and away from others.

Upstream: v1.36 plugins/interpodaffinity.
"""

from scheduler_core.plugins.inter_pod_affinity.plugin import InterPodAffinity

__all__ = ["InterPodAffinity"]
