"""One scheduling cycle as its events have it, each in its place.

`cycle_record` is how Python reads the events of a cycle; REST documents and the why of a pod are
made from what it returns. The browser's twin is `frontend/src/store/cycle.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scheduler_core.trace.events import (
    Bound,
    CycleFinished,
    CycleStarted,
    Detail,
    DevicesAllocated,
    EventRecorded,
    ExtenderCalled,
    ExtenderColumns,
    FilterColumns,
    FilterFinished,
    Forgotten,
    HeaderEvent,
    NodeSelected,
    NominationChanged,
    PointFinished,
    PostFilterFinished,
    PreemptionDecided,
    PreemptionDryRun,
    PreemptionIneligible,
    PreemptionStarted,
    PreFilterFinished,
    PreScoreFinished,
    QueueMoved,
    ScoreColumns,
    Unreserved,
)
from scheduler_core.trace.records import DeviceRecord


@dataclass(slots=True)
class CycleRecord:
    """A cycle; what it did not come to is None or empty.

    `extender_columns` are by place in `extender_calls`.
    """

    started: CycleStarted
    finished: CycleFinished | None = None
    pre_filter: PreFilterFinished | None = None
    filter: FilterFinished | None = None
    filter_columns: FilterColumns | None = None
    post_filter: PostFilterFinished | None = None
    preemption_started: PreemptionStarted | None = None
    preemption_ineligible: PreemptionIneligible | None = None
    preemption_dry_run: PreemptionDryRun | None = None
    preemption_decided: PreemptionDecided | None = None
    pre_score: PreScoreFinished | None = None
    score_columns: ScoreColumns | None = None
    selected: NodeSelected | None = None
    nominations: list[NominationChanged] = field(default_factory=list)
    moves: list[QueueMoved] = field(default_factory=list)
    points: list[PointFinished] = field(default_factory=list)
    devices: list[DevicesAllocated] = field(default_factory=list)
    unreserved: Unreserved | None = None
    extender_calls: list[ExtenderCalled] = field(default_factory=list)
    extender_columns: dict[int, ExtenderColumns] = field(default_factory=dict)
    recorded: list[EventRecorded] = field(default_factory=list)

    @property
    def has_preemption(self) -> bool:
        """Whether the cycle came to PostFilter."""
        steps = (
            self.post_filter,
            self.preemption_started,
            self.preemption_ineligible,
            self.preemption_decided,
            self.preemption_dry_run,
        )
        return any(step is not None for step in steps)


def cycle_record(
    headers: Sequence[HeaderEvent],
    later: Iterable[HeaderEvent] = (),
    details: Iterable[Detail] = (),
) -> CycleRecord:
    """Return the record of one cycle.

    `headers` begins with its `CycleStarted` and ends before the next; the pod's binding cycle goes
    on among the `later` events of the run. Raises ValueError where no cycle begins.
    """
    started = headers[0]
    if not isinstance(started, CycleStarted):
        raise ValueError("a cycle begins with CycleStarted")
    record = CycleRecord(started)
    for event in headers[1:]:
        _add(record, event)
    for event in later:
        if isinstance(event, CycleStarted) and event.pod == started.pod:
            break
        if isinstance(event, CycleFinished):
            _add(record, event)
        _add_of_pod(record, event)
    for detail in details:
        _add_detail(record, detail)
    return record


def device_name(device: DeviceRecord) -> str:
    """Return how a device is called: `driver/pool/device`."""
    return f"{device.driver}/{device.pool}/{device.device}"


def devices_by_claim(record: CycleRecord) -> dict[str, tuple[str, ...]]:
    """Return the names of the devices that Reserve keeps for the pod, by claim."""
    return {event.claim: tuple(map(device_name, event.devices)) for event in record.devices}


def examined(record: CycleRecord, order: Sequence[int]) -> list[int]:
    """Return the nodes that Filter looked at, in order (n_examined,).

    `order` is that of all nodes at the time of the cycle.
    """
    columns = record.filter_columns
    if columns is None:
        return []
    if columns.nodes is not None:
        return [int(node) for node in columns.nodes.array()]
    start = record.started.start_index
    return [*order[start:], *order[:start]][: len(columns.status.array())]


def cycle_range(events: Sequence[HeaderEvent], cycle: int) -> range:
    """Return where the events of one cycle are among those of its chunk."""
    starts = [i for i, event in enumerate(events) if isinstance(event, CycleStarted)]
    numbers = {event.cycle: i for i in starts if isinstance(event := events[i], CycleStarted)}
    begin = numbers[cycle]
    end = next((i for i in starts if i > begin), len(events))
    return range(begin, end)


def is_bound_or_given_up(events: Iterable[HeaderEvent], pod: int) -> bool:
    """Return whether the pod's binding cycle ends among `events`."""
    return any(isinstance(event, Bound | Forgotten) and event.pod == pod for event in events)


def _add(record: CycleRecord, event: HeaderEvent) -> None:
    match event:
        case CycleFinished():
            # A cycle ends again when Permit lets its pod go, or its binding fails.
            if event.cycle == record.started.cycle:
                record.finished = event
        case PreFilterFinished():
            record.pre_filter = event
        case FilterFinished():
            record.filter = event
        case PreScoreFinished():
            record.pre_score = event
        case NodeSelected():
            record.selected = event
        case QueueMoved():
            record.moves.append(event)
        case NominationChanged():
            record.nominations.append(event)
        case _:
            _add_post_filter(record, event)
            _add_of_pod(record, event)


def _add_post_filter(record: CycleRecord, event: HeaderEvent) -> None:
    match event:
        case PostFilterFinished():
            record.post_filter = event
        case PreemptionStarted():
            record.preemption_started = event
        case PreemptionIneligible():
            record.preemption_ineligible = event
        case PreemptionDecided():
            record.preemption_decided = event
        case _:
            pass


def _add_of_pod(record: CycleRecord, event: HeaderEvent) -> None:
    """Add what concerns the cycle's own pod, which may happen while others have their cycles."""
    pod = record.started.pod
    match event:
        case EventRecorded() if event.pod == pod:
            record.recorded.append(event)
        case PointFinished() if event.pod == pod:
            record.points.append(event)
        case DevicesAllocated() if event.pod == pod:
            record.devices.append(event)
        case Unreserved() if event.pod == pod:
            record.unreserved = event
        case ExtenderCalled() if event.pod == pod:
            record.extender_calls.append(event)
        case _:
            pass


def _add_detail(record: CycleRecord, detail: Detail) -> None:
    match detail:
        case FilterColumns():
            record.filter_columns = detail
        case ScoreColumns():
            record.score_columns = detail
        case PreemptionDryRun():
            record.preemption_dry_run = detail
        case ExtenderColumns():
            record.extender_columns[detail.call] = detail
