"""The evidence of a cycle under way: what of it the explanation of its verdicts needs."""

from __future__ import annotations

from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.evidence.cycle import CycleEvidence, CycleFacts
from scheduler_core.scheduler.cycle_record import Cycle


def evidence_of(cycle: Cycle, objects: ObjectStore) -> CycleEvidence:
    """Return what answers for a cycle that has just decided, as long as nothing follows from it."""
    filtering, scoring = cycle.filtering, cycle.scoring
    return CycleEvidence(
        CycleFacts(
            framework=cycle.framework,
            pod=cycle.pod,
            nodes=cycle.nodes,
            objects=objects,
            state=cycle.state,
            statuses=cycle.diagnosis,
            feasible=filtering.feasible if filtering is not None else None,
            scores=scoring.scores if scoring is not None else (),
        )
    )
