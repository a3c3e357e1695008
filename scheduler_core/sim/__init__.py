"""The simulated cluster: virtual time, API server, kubelets, and whole runs."""

from scheduler_core.sim.run import RunOptions, simulate

__all__ = ["RunOptions", "simulate"]
