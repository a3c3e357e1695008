"""A short run written by hand, with every kind of header event in it.

`python -m tests.trace.story > tests/trace/fold_fixture.json` writes the fixture that Python and
the browser fold alike: the events, and the state after every sixth.
"""

from __future__ import annotations

import sys

import msgspec

from scheduler_core.trace import events as e
from scheduler_core.trace import records as r
from scheduler_core.trace.fold import TraceState, apply

START_NS = 1_772_442_000_000_000_000
SECOND_NS = 1_000_000_000
GIB = 1 << 30
EVERY = 6
"""The fixture keeps the state after every sixth event, and after the last."""

CONTROL, EAST, WEST, LATE = range(4)
DB, WEB, GREEDY, GATED, JOB, STRAY, LOST = range(7)
PLUGINS = (
    "SchedulingGates",
    "PrioritySort",
    "TaintToleration",
    "NodeResourcesFit",
    "DefaultPreemption",
    "ImageLocality",
    "DefaultBinder",
    "Handshake",
)
GATES, SORT, TAINTS, FIT, PREEMPTION, IMAGES, BINDER, HANDSHAKE = range(8)
OK = r.StatusRecord("Success")
NO_ROOM = "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu."


def at(second: int) -> e.ClockAdvanced:
    return e.ClockAdvanced(START_NS + second * SECOND_NS)


def set_up() -> list[e.HeaderEvent]:
    profile = r.ProfileRecord(
        "default-scheduler",
        (
            r.PointPlugins("PreEnqueue", (GATES, PREEMPTION)),
            r.PointPlugins("QueueSort", (SORT,)),
            r.PointPlugins("PreFilter", (FIT,)),
            r.PointPlugins("Filter", (TAINTS, FIT)),
            r.PointPlugins("PostFilter", (PREEMPTION,)),
            r.PointPlugins("PreScore", (TAINTS, FIT)),
            r.PointPlugins("Score", (TAINTS, FIT, IMAGES), (3, 1, 1)),
            r.PointPlugins("Permit", (HANDSHAKE,)),
            r.PointPlugins("Bind", (BINDER,)),
        ),
        (
            r.PluginEvents(TAINTS, ("NodeAdd", "NodeUpdateNodeTaint", "PodUpdatePodToleration")),
            r.PluginEvents(FIT, ("PodDelete", "NodeAdd", "NodeUpdateNodeAllocatable")),
        ),
    )
    zone = "topology.kubernetes.io/zone"
    taint = r.TaintRecord("node-role.kubernetes.io/control-plane", "", "NoSchedule")
    return [
        e.RunStarted(
            "0.1.0", 7, START_NS, PLUGINS, (profile,), ("ResourceClaim shop/gpu",),
            release="1.36", gates=(r.GateRecord("SchedulerPopFromBackoffQ", False),),
        ),
        e.ResourcesDefined(("cpu", "memory")),
        e.NodeAdded(CONTROL, "control", "", {}, (taint,), False, (2000, 4 * GIB)),
        e.NodeAdded(EAST, "worker-east", "east", {zone: "east"}, (), False, (4000, 8 * GIB)),
        e.NodeAdded(WEST, "worker-west", "west", {zone: "west"}, (), False, (4000, 8 * GIB)),
        e.NodeOrderChanged((CONTROL, EAST, WEST)),
        e.PodAdded(
            DB, "shop", "db-0", "default-scheduler", 0, (3000, GIB), "StatefulSet/db", EAST,
            phase="Running",
        ),
        e.PodAdded(
            JOB, "batch", "report-x2x", "default-scheduler", 0, (500, GIB), "Job/report", WEST,
            phase="Running",
        ),
        e.PodAdded(LOST, "batch", "lost", "default-scheduler", 0, (100, 0), node=9),
        e.PodAdded(WEB, "shop", "web-1", "default-scheduler", 0, (1000, 2 * GIB)),
        e.QueueMoved(WEB, r.Queue.ACTIVE, "UnscheduledPodAdd"),
        e.PodAdded(GREEDY, "shop", "greedy", "default-scheduler", 100, (3500, GIB)),
        e.QueueMoved(GREEDY, r.Queue.ACTIVE, "UnscheduledPodAdd"),
        e.PodAdded(GATED, "shop", "gated", "default-scheduler", 0, (100, 0)),
        e.QueueMoved(GATED, r.Queue.GATED, "UnscheduledPodAdd", gated_by=GATES),
        e.PodAdded(STRAY, "batch", "stray", "default-scheduler", -5, (100, 0)),
        e.QueueMoved(STRAY, r.Queue.ACTIVE, "UnscheduledPodAdd"),
    ]  # fmt: skip


def greedy_preempts() -> list[e.HeaderEvent]:
    """Cycle 1: nothing fits, one victim makes room, the preemptor is nominated and gated."""
    unfit = r.StatusRecord("Unschedulable", PREEMPTION, ("waiting for victims",))
    return [
        at(1),
        e.CycleStarted(1, GREEDY, 1, 0, r.Queue.ACTIVE, 0, 3),
        e.PreFilterFinished(OK, ()),
        e.FilterFinished(3, 0, 3, (r.RejectedBy(TAINTS, 1), r.RejectedBy(FIT, 2))),
        e.PreemptionStarted(2, 0, 2),
        e.PreemptionDecided(
            (EAST, WEST),
            (
                r.CriterionRecord("pdbViolations", (1, 0), (WEST,)),
                r.CriterionRecord("highestPriority", (0,), (WEST,)),
            ),
            WEST,
            (JOB,),
        ),
        e.PostFilterFinished(unfit, "override", WEST),
        e.NominationChanged(GREEDY, WEST),
        e.EventRecorded(GREEDY, "Warning", "FailedScheduling", NO_ROOM),
        e.QueueMoved(GREEDY, r.Queue.UNSCHEDULABLE, "ScheduleAttemptFailure"),
        e.CycleFinished(1, r.Result.UNSCHEDULABLE, -1, NO_ROOM, (TAINTS, FIT)),
        e.PodEvicted(JOB, GREEDY, "Preempted", START_NS + 31 * SECOND_NS),
        e.QueueMoved(GREEDY, r.Queue.GATED, "", gated_by=PREEMPTION),
    ]


def web_binds() -> list[e.HeaderEvent]:
    """Cycle 2: an ordinary pod waits on permit, is allowed and bound."""
    return [
        at(2),
        e.CycleStarted(2, WEB, 1, 0, r.Queue.ACTIVE, 0, 3),
        e.PreFilterFinished(OK, (), (EAST, WEST)),
        e.FilterFinished(2, 2, 3, ()),
        e.ExtenderCalled("http://gpu.example/", "filter", 2, 2, 1_500_000, "kept all"),
        e.PreScoreFinished(OK, (TAINTS,)),
        e.NodeSelected(WEST, "heap", 2, 410, 1, EAST, 380, (FIT,)),
        e.Assumed(WEB, WEST),
        e.PointFinished(WEB, "Reserve", OK),
        e.DevicesAllocated(
            WEB, WEST, "shop/gpu", (r.DeviceRecord("r", "gpu.example", "west", "gpu-0", True),)
        ),
        e.PermitWaiting(WEB, HANDSHAKE, START_NS + 12 * SECOND_NS),
        e.PointFinished(WEB, "Permit", r.StatusRecord("Wait", HANDSHAKE)),
        e.CycleFinished(2, r.Result.WAITING, WEST),
        at(3),
        e.PermitResolved(WEB, HANDSHAKE, "allow"),
        e.CycleFinished(2, r.Result.SCHEDULED, WEST),
        e.PointFinished(WEB, "PreBind", OK),
        e.PointFinished(WEB, "Bind", r.StatusRecord("Success", BINDER)),
        e.Bound(WEB, WEST),
        e.EventRecorded(WEB, "Normal", "Scheduled", "Successfully assigned shop/web-1"),
        e.PointFinished(WEB, "PostBind", OK),
    ]


def stray_fails_to_bind() -> list[e.HeaderEvent]:
    """Cycle 3 fails late, while cycle 4 skips a pod; the pod backs off, then is deleted."""
    return [
        at(4),
        e.CycleStarted(3, STRAY, 1, 0, r.Queue.ACTIVE, 1, 3),
        e.PreFilterFinished(OK, (FIT,)),
        e.FilterFinished(3, 1, 3, (r.RejectedBy(TAINTS, 2),), by_nomination=True),
        e.NodeSelected(EAST, "single", 1),
        e.Assumed(STRAY, EAST),
        e.PointFinished(STRAY, "Permit", OK),
        e.CycleFinished(3, r.Result.SCHEDULED, EAST),
        e.PointFinished(STRAY, "Bind", r.StatusRecord("Error", BINDER, ("conflict",))),
        e.Unreserved(STRAY, EAST, (HANDSHAKE, FIT)),
        e.Forgotten(STRAY, EAST),
        e.QueueMoved(
            STRAY, r.Queue.BACKOFF, "ScheduleAttemptFailure",
            backoff_until_ns=START_NS + 5 * SECOND_NS,
        ),
        e.CycleStarted(4, DB, 1, 0, r.Queue.ACTIVE, 1, 3),
        e.CycleFinished(3, r.Result.BIND_ERROR, EAST, "conflict", (), (HANDSHAKE,)),
        e.CycleFinished(4, r.Result.SKIPPED, -1),
        e.Assumed(STRAY, EAST),
        e.Forgotten(STRAY, EAST),
        e.PodDeleted(STRAY),
        e.QueueMoved(STRAY, r.Queue.NOWHERE, "UnschedulablePodDelete"),
    ]  # fmt: skip


def world_moves_on() -> list[e.HeaderEvent]:
    """The victim goes, nodes come and go, the preemptor wakes and binds in cycle 5."""
    hints = (r.HintRecord(FIT, "Queue"), r.HintRecord(TAINTS, "QueueSkip"))
    return [
        at(31),
        e.PodUpdated(JOB, 0, (500, GIB), "Succeeded", True),
        e.PodDeleted(JOB),
        e.QueueMoved(
            GREEDY, r.Queue.ACTIVE, "AssignedPodDelete", "batch/report-x2x", hints, "immediately"
        ),
        e.ScenarioStepped(
            0,
            "add node worker-late",
            said={"say": "change.create", "with": {"objects": "node worker-late"}},
        ),
        e.ResourcesDefined(("example.com/gpu",)),
        e.NodeAdded(LATE, "worker-late", "east", {}, (), True, (4000, 8 * GIB, 2)),
        e.NodeUpdated(LATE, "west", {"pool": "late"}, (), False, (4000, 8 * GIB, 1)),
        e.NodeDeleted(CONTROL),
        e.NodeOrderChanged((EAST, WEST, LATE)),
        e.PodUpdated(GREEDY, 100, (3500, GIB, 1), "Pending"),
        e.PreemptionIneligible("not eligible due to a terminating pod on the nominated node."),
        e.CycleStarted(5, GREEDY, 2, 0, r.Queue.ACTIVE, 0, 3),
        e.Assumed(GREEDY, LATE),
        e.Bound(GREEDY, LATE),
        e.CycleFinished(5, r.Result.SCHEDULED, LATE),
        e.RunFinished(5, 2, 1, "nothing left to do"),
    ]


def story() -> list[e.HeaderEvent]:
    return [
        *set_up(),
        *greedy_preempts(),
        *web_binds(),
        *stray_fails_to_bind(),
        *world_moves_on(),
    ]


def states() -> list[object]:
    """Return the state after some of the events, as plain values."""
    state = TraceState()
    events = story()
    after: list[object] = []
    for n, event in enumerate(events, start=1):
        apply(state, event)
        if n % EVERY == 0 or n == len(events):
            after.append({"after": n, "state": plain(state)})
    return after


def plain(state: TraceState) -> dict[str, object]:
    """Return what both languages know of a state, part by part, as JSON has it."""
    parts: dict[str, object] = msgspec.to_builtins(state, str_keys=True)
    del parts["names"], parts["binding"]
    return parts | {"node_order": list(state.node_order), "resources": list(state.resources)}


def fixture_text() -> str:
    """Return the fixture: JSON with one event, and one state, per line."""
    events = ",\n".join(map(_line, story()))
    after = ",\n".join(map(_line, states()))
    return f'{{\n"events": [\n{events}\n],\n"states": [\n{after}\n]\n}}\n'


def _line(value: object) -> str:
    return msgspec.json.encode(value).decode()


if __name__ == "__main__":
    sys.stdout.write(fixture_text())
