"""Writes: why a finished run's pods are pending, one sentence with values for each.

The trace holds verdicts, not the values behind them; so a worker simulates the run once more when
it has finished, and stores what leads for the pending pods (docs/evidence.md). Pods of one owner
with one message are alike: one of them is looked at.
"""

from __future__ import annotations

import logging
from typing import Final

from kviz.engine_build import is_of_version
from kviz.runs.execution.engine import leads, max_cycle
from kviz.runs.execution.extender_answers import AnswerMissing
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import PodOutcome, Run
from kviz.runs.selectors import pods_pending
from scheduler_core.evidence.document import lead_document
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.sim.pending import Leads
from scheduler_core.wording import packed

log = logging.getLogger(__name__)

MAX_LOOKED_AT: Final = 100
"""So many groups of pending pods get a sentence with values."""
MAX_ROWS: Final = 500
"""So many rows are written in one statement."""


AT_ONCE: Final = 1_000_000
"""Cycles times nodes (and 1,000) that are simulated while somebody waits: about a second."""


def causes_store(*, run: Run, max_work: int | None = None) -> None:
    """Store what leads for the pending pods of a finished run, if it can be simulated again.

    `max_work` is how many cycles times nodes (and 1,000) that may take; None: as many as any
    cycle may that is looked at again.
    """
    pods = list(pods_pending(run=run))
    last = run.cycle_rows.order_by("-number").first()
    n_nodes = last.n_nodes if last is not None else 0
    too_long = run.cycles > max_cycle(n_nodes)
    if max_work is not None:
        too_long = too_long or run.cycles * (1_000 + n_nodes) > max_work
    if run.is_observed or not is_of_version(run.engine_version) or not pods or too_long:
        return
    groups = _groups(run, pods)
    try:
        found = leads(run, {alike[0].last_cycle for alike in groups if alike[0].last_cycle})
    except (InvalidInput, AnswerMissing, PluginFailure) as error:
        log.warning("no causes for run %s: %s", run.pk, error)
        return
    for alike in groups:
        _store(alike, found)


def _store(alike: list[PodOutcome], found: Leads) -> None:
    first = alike[0]
    lead = found.of(first.pod, first.last_cycle, first.scheduler_name)
    document = packed(lead_document(lead)) if lead is not None else None
    for begin in range(0, len(alike), MAX_ROWS):
        keys = [pod.pk for pod in alike[begin : begin + MAX_ROWS]]
        PodOutcome.objects.filter(pk__in=keys).update(lead=document)


def _groups(run: Run, pods: list[PodOutcome]) -> list[list[PodOutcome]]:
    """Pending pods that are alike, the largest group first; a pod without owner is alone."""
    numbers = {pod.last_cycle for pod in pods if pod.last_cycle}
    messages = dict(run.cycle_rows.filter(number__in=numbers).values_list("number", "message"))
    groups: dict[tuple[str, ...], list[PodOutcome]] = {}
    for pod in pods:
        namespace = pod.pod.partition("/")[0]
        key = (namespace, pod.owner, pod.gated_by, messages.get(pod.last_cycle, ""))
        groups.setdefault(key if pod.owner else (*key, pod.pod), []).append(pod)
    return sorted(groups.values(), key=lambda alike: -len(alike))[:MAX_LOOKED_AT]
