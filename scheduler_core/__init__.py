"""A faithful kube-scheduler over columns, on a virtual clock, with a full trace.

Pure and deterministic: no I/O, no wall clock, no threads. Start reading at
`scheduler/scheduler.py`.
"""

ENGINE_VERSION = "0.2.0"
"""Stored with every run; a trace may only be continued by the version that began it."""
