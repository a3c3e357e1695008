"""A change and its text, its document, and what undoes it: each the inverse of the other."""

from __future__ import annotations

import msgspec
from hypothesis import example, given

from kviz.conformance.cases import read_object
from scheduler_core.api import KubeObject, Node, ObjectMeta, PodDisruptionBudget
from scheduler_core.api.workload import PodDisruptionBudgetStatus
from scheduler_core.changes import (
    Change,
    ChangeError,
    Rules,
    apply,
    changed_rules,
    document_of,
    inverse,
    line_of,
    read_changes,
    read_line,
    read_lines,
    sentence,
)
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.changes.documents import object_document
from scheduler_core.changes.vocabulary import SetField, Target
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.codec import TraceWriter
from tests.changes.strategies import changes, cluster, object_changes, rule_changes
from tests.effort import examples


def trace_hash(objects: list[KubeObject]) -> str:
    writer = TraceWriter()
    for event in simulate(objects, RunOptions()):
        writer.add(event)
    writer.cut()
    return writer.trace_hash()


@given(changes)
def test_the_line_of_a_change_reads_as_the_change(change: Change) -> None:
    change = as_read(change)
    line = line_of(change)
    assert "\n" not in line
    assert read_line(line) == change


@given(changes)
def test_the_document_of_a_change_reads_as_the_change(change: Change) -> None:
    change = as_read(change)
    document = msgspec.json.decode(msgspec.json.encode(document_of(change)))
    assert read_changes([document]) == (change,)


@example(SetField(Target(Node, "", "n1"), "status.allocatable.cpu", None))
@examples(30)
@given(object_changes)
def test_what_undoes_a_change_brings_back_the_same_objects_and_trace(change: Change) -> None:
    objects = cluster()
    try:
        after = apply(objects, [change])
    except ChangeError:
        return
    undo = inverse(change, objects)
    assert apply(after, undo) == objects
    assert (undo == ()) == (after == objects)
    back = apply(after, read_lines("\n".join(map(line_of, undo))))
    assert trace_hash(back) == trace_hash(objects)


@given(rule_changes)
def test_what_undoes_a_change_of_rules_brings_back_what_they_come_to(change: Change) -> None:
    rules = Rules(weights={"NodeAffinity": 7}, seed=3, queue_order="name")
    undo = inverse(change, [], rules)
    back = changed_rules(changed_rules(rules, [change]), undo)
    assert (back.seed, back.queue_order, back.load()) == (3, "name", rules.load())
    assert back.features().changed == rules.features().changed


@given(changes)
def test_every_change_has_a_sentence(change: Change) -> None:
    assert sentence(change, RestingCluster(cluster()))
    assert sentence(change, RestingCluster([]))


def as_read(change: Change) -> Change:
    """What is left of a change when its objects have been read, defaults filled in."""
    (read,) = read_changes([msgspec.json.decode(msgspec.json.encode(document_of(change)))])
    return read


def test_an_object_is_written_as_the_api_server_prints_it_and_reads_as_itself() -> None:
    """Also times in a map, as the pods have that a budget lets go."""
    budget = PodDisruptionBudget(
        metadata=ObjectMeta(name="web", namespace="shop", creation_timestamp=1_700_000_000 * 10**9),
        status=PodDisruptionBudgetStatus(disrupted_pods={"web-0": 1_700_000_000 * 10**9}),
    )
    document = object_document(budget)
    assert document["status"] == {"disruptedPods": {"web-0": "2023-11-14T22:13:20Z"}}
    assert read_object(msgspec.json.decode(msgspec.json.encode(document))) == budget
