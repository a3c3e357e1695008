"""The two plugins that weigh what pods request against what nodes have to give."""

from scheduler_core.plugins.node_resources.balanced_allocation import BalancedAllocation
from scheduler_core.plugins.node_resources.fit import Fit

__all__ = ["BalancedAllocation", "Fit"]
