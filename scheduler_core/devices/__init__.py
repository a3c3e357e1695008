"""Devices as the scheduler counts them: slices, classes, selectors, and who holds what."""
