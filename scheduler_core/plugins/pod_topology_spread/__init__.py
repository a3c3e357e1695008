"""PodTopologySpread: keep the pods of a selection evenly spread over topology domains.

Upstream: v1.36 plugins/podtopologyspread.
"""

from scheduler_core.plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = ["PodTopologySpread"]
