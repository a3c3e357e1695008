"""What must hold of any preemption, over random clusters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import KubeObject, PodDisruptionBudget
from scheduler_core.cluster.nodes import Change
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.preemption.budgets import Budgets
from scheduler_core.preemption.dry_run import dry_run
from scheduler_core.preemption.report import DryRun, PreemptionReport
from tests.builders import budget, make_node, make_pod
from tests.effort import examples
from tests.simulated import HOUR_NS, START_NS, Cluster


@st.composite
def clusters(draw: st.DrawFn) -> list[KubeObject]:
    """Return nodes filled with pods of several priorities, budgets, and one preemptor."""
    objects: list[KubeObject] = [budget(app, allowed=draw(st.integers(0, 2))) for app in "ab"]
    for i in range(draw(st.integers(1, 5))):
        objects.append(make_node(f"n{i}").cpu(8).obj())
        sizes = draw(st.lists(st.integers(1, 4), max_size=6))
        for k, cpu in enumerate(sizes):
            if sum(sizes[: k + 1]) > 8:
                break
            objects.append(
                make_pod(f"n{i}-p{k}")
                .cpu(cpu)
                .priority(draw(st.integers(-2, 12)))
                .on(f"n{i}")
                .started_ns(START_NS - draw(st.integers(0, 5)) * HOUR_NS)
                .label("app", draw(st.sampled_from(["a", "b", "c"])))
                .obj()
            )
    objects.append(make_pod("preemptor").cpu(draw(st.integers(4, 8))).priority(10).obj())
    return objects


def preempt(objects: list[KubeObject]) -> tuple[Cluster, PreemptionReport | None]:
    world = Cluster(*objects)
    world.simulation.scheduler.cache.update_snapshot()
    outcome = world.attempt().post_filter
    report = outcome.report if outcome else None
    return world, report if isinstance(report, PreemptionReport) else None


@given(clusters())
@examples(60)
def test_no_victim_matters_as_much_as_the_preemptor(objects: list[KubeObject]) -> None:
    _, report = preempt(objects)
    for run in report.dry_runs if report else ():
        assert all(victim.priority < 10 for victim in run.victims)
        kept = {r.pod.uid for r in run.reprieves if r.kept}
        assert kept.isdisjoint(victim.uid for victim in run.victims)


@given(clusters())
@examples(60)
def test_the_pod_fits_without_its_victims_and_with_none_of_them_spared(
    objects: list[KubeObject],
) -> None:
    """Victims suffice, and no single one of them could have stayed."""
    world = Cluster(*objects)
    framework = world.simulation.scheduler.profiles["default-scheduler"]
    nodes = world.simulation.scheduler.cache.update_snapshot()
    preemptor = world.simulation.scheduler.queue.active_pods()[0].pod
    state = CycleState()
    framework.run_pre_filter(state, preemptor, nodes)
    for i, run in enumerate(_runs(world, state)):
        if not run.status.is_success:
            continue
        without = nodes.what_if({i: Change(removed=run.victims)})
        assert framework.run_filter(state, preemptor, without).fits[i]
        for victim in run.victims:
            others = tuple(other for other in run.victims if other.uid != victim.uid)
            spared = nodes.what_if({i: Change(removed=others)})
            assert not framework.run_filter(state, preemptor, spared).fits[i]


def _runs(world: Cluster, state: CycleState, *, lockstep: bool = True) -> list[DryRun]:
    scheduler = world.simulation.scheduler
    framework = scheduler.profiles["default-scheduler"]
    nodes = scheduler.cache.update_snapshot()
    preemptor = scheduler.queue.active_pods()[0].pod
    budgets = Budgets(list(world.server.all(PodDisruptionBudget)))
    views = [nodes] if lockstep else [nodes.take([i]) for i in range(nodes.n)]  # type: ignore[arg-type]
    return [
        run
        for view in views
        for run in dry_run(
            preemptor,
            view,
            lambda worlds: framework.run_filter_with_nominated_pods(state, preemptor, worlds),
            budgets,
            START_NS,
        )
    ]


@given(clusters())
@examples(60)
def test_lockstep_equals_one_node_at_a_time(objects: list[KubeObject]) -> None:
    world = Cluster(*objects)
    framework = world.simulation.scheduler.profiles["default-scheduler"]
    state = CycleState()
    preemptor = world.simulation.scheduler.queue.active_pods()[0].pod
    framework.run_pre_filter(state, preemptor, world.simulation.scheduler.cache.update_snapshot())
    together = [summary(run) for run in _runs(world, state)]
    assert together == [summary(run) for run in _runs(world, state, lockstep=False)]


def summary(run: DryRun) -> tuple[object, ...]:
    return (
        run.node_name,
        run.removed,
        run.reprieves,
        run.victims,
        run.n_pdb_violations,
        run.status,
    )


class Forgetful(Framework):
    """A framework that lets no dry run be cached."""

    def is_node_local(self, state: CycleState) -> bool:
        return False


@given(clusters(), st.lists(st.integers(4, 8), min_size=1, max_size=4))
@examples(40)
def test_cached_dry_runs_change_nothing(objects: list[KubeObject], more: list[int]) -> None:
    """A run of several preemptors leaves the same trace when every dry run is done again."""
    late = [make_pod(f"late{i}").cpu(cpu).priority(10).obj() for i, cpu in enumerate(more)]
    keeping, forgetting = Cluster(*objects, *late), Cluster(*objects, *late)
    for framework in forgetting.simulation.scheduler.profiles.values():
        framework.__class__ = Forgetful
    for world in (keeping, forgetting):
        while world.simulation.attempt():
            pass
    assert keeping.trace == forgetting.trace
