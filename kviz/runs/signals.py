"""What other rooms may want to hear of runs."""

from django.dispatch import Signal

run_advanced = Signal()
"""There is news of a run: `run_id`, and `seq`, its last stored event. A hint, not a promise."""
run_finished = Signal()
"""A worker has executed a run to its end: `run`. Sent within the transaction that stores that."""
