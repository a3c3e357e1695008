"""A cluster loaded once: its copies are what loading it again would give."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kviz.conformance.cases import list_of, read_object
from scheduler_core.analysis.advice.trial import Trials, trial
from scheduler_core.api import KubeObject, Node, Pod, Taint
from scheduler_core.changes import Change, ChangeError, apply
from scheduler_core.changes.vocabulary import (
    EFFECTS,
    AddTaint,
    CopyNode,
    Cordon,
    Delete,
    Drain,
    Put,
    RemoveTaint,
    SetLabel,
    Target,
)
from scheduler_core.sim import RunOptions
from scheduler_core.sim.copies import RunCopies
from scheduler_core.sim.loaded import LoadedCluster
from scheduler_core.sim.run import Run
from tests.builders import make_node, make_pod
from tests.changes.strategies import cluster, object_changes
from tests.effort import examples
from tests.generator.documents import cycle_document


def generated(seed: int) -> list[KubeObject]:
    """A random cluster; most of its pods run, as they do in a dump."""
    given = cycle_document(seed)["input"]
    made = [read_object(each) for each in (*list_of(given, "objects"), given["pod"])]
    return [_running(each) if i % 3 else each for i, each in enumerate(made)]


def _running(item: KubeObject) -> KubeObject:
    if isinstance(item, Pod) and item.spec.node_name and item.status.phase in ("", "Pending"):
        return replace(item, status=replace(item.status, phase="Running"))
    return item


@st.composite
def some_changes(draw: st.DrawFn, objects: Sequence[KubeObject]) -> list[Change]:
    nodes = [each.name for each in objects if isinstance(each, Node)] or ["none"]
    others = [each for each in objects if not isinstance(each, Node)]
    names = st.sampled_from(nodes)
    targets = st.sampled_from([Target(type(each), each.namespace, each.name) for each in others])
    taints = st.sampled_from([Taint(key="k", effect=each) for each in EFFECTS])
    kinds: list[st.SearchStrategy[Change]] = [
        st.builds(Cordon, names, st.booleans()),
        st.builds(CopyNode, names, st.integers(1, 3)),
        st.builds(Drain, names),
        st.builds(AddTaint, names, taints),
        st.builds(RemoveTaint, names, st.just("k")),
        st.builds(SetLabel, names, st.just("topology.kubernetes.io/zone"), st.sampled_from("ab")),
        st.builds(SetLabel, names, st.just("disk"), st.sampled_from(("ssd", "hdd"))),
        st.builds(Delete, names.map(lambda name: Target(Node, "", name))),
        st.builds(Delete, targets),
        st.builds(Delete, targets),
    ]
    return draw(st.lists(st.one_of(kinds), max_size=3))


def same_end(trials: Trials, changes: Sequence[Change]) -> None:
    """The copy with changes made up for ends as the cluster loaded afresh does."""
    try:
        objects = apply(trials.objects, changes)
    except ChangeError:
        return
    fresh, copied = trial(objects, trials.options), trials.of(objects)
    assert dict(copied.pods) == dict(fresh.pods)
    assert copied.stopped == fresh.stopped


@examples(8)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_a_copy_with_changes_ends_as_if_loaded_afresh(data: st.DataObject, seed: int) -> None:
    objects = generated(seed)
    trials = Trials(objects, RunOptions())
    if data.draw(st.booleans()):
        assert trials.as_it_is == trial(objects, RunOptions())  # copies go on from what it cached
    for _ in range(3):
        same_end(trials, data.draw(some_changes(objects)))


@examples(15)
@given(st.lists(object_changes, max_size=3))
def test_so_it_does_with_any_change(changes: list[Change]) -> None:
    trials = Trials(cluster(), RunOptions())
    assert trials.as_it_is == trial(cluster(), RunOptions())
    same_end(trials, changes)


@examples(8)
@given(st.integers(0, 2**32 - 1))
def test_a_copy_has_the_trace_of_the_run_it_was_taken_from(seed: int) -> None:
    run = Run(generated(seed), RunOptions())
    run.load()
    copies = RunCopies(run)
    first, second = copies.take(), copies.take()
    events = list(first.events())
    assert events == list(second.events()) == list(run.events())


def test_a_copy_goes_on_with_dry_runs_that_hold_where_it_begins() -> None:
    nodes = [make_node(f"n{i}").cpu(2).obj() for i in range(3)]
    lesser = [make_pod(f"low-{i}").priority(-1).cpu(2).on(f"n{i}").obj() for i in range(3)]
    wanting = [make_pod(f"p{i}").priority(5).cpu(2).obj() for i in range(2)]
    objects = [*nodes, *map(_running, lesser), *wanting]
    trials = Trials(objects, RunOptions())
    assert trials.as_it_is.keys("evicted") == ("default/low-0", "default/low-1")
    spared = make_pod("low-0").priority(9).cpu(2).on("n0").obj()
    tried: list[list[Change]] = [
        [Cordon("n0", True)],
        [Delete(Target(Pod, "default", "low-2"))],
        [Delete(Target(Pod, "default", "low-0")), Put((spared,))],
    ]
    for changes in tried:
        same_end(trials, changes)


def test_most_changes_of_a_cluster_are_made_to_a_copy() -> None:
    objects = [_running(each) for each in cluster()]
    loaded = LoadedCluster(objects, RunOptions())

    def is_copied(*changes: Change) -> bool:
        return loaded.run_of(apply(objects, changes)) is not None

    assert is_copied()
    assert is_copied(Cordon("n1", True), CopyNode("n2", 2), SetLabel("n1", "a", "b"))
    assert is_copied(Drain("n1"))
    assert is_copied(Delete(Target(Pod, "default", "bound-1")), Delete(Target(Pod, "default", "a")))
    assert is_copied(Delete(Target(Node, "", "n3")))
    assert not is_copied(AddTaint("n1", Taint(key="k", effect="NoExecute")))
    assert not is_copied(SetLabel("n1", "topology.kubernetes.io/zone", "other"))
