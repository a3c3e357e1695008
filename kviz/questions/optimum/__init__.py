"""Searches for the best placement of all waiting pods together, and holds a run against it.

The problem comes from the engine (`scheduler_core.analysis.model`); HiGHS solves it here:
docs/optimum.md.
"""
