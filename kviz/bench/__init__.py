"""Measuring the scheduler on workloads of defined shape (docs/performance.md)."""
