"""What holds of any two runs: with itself, the other way round, with one weight changed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from kviz.samples import sample_texts
from scheduler_core.analysis.compare import RunLines, compare
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.sim import RunOptions
from scheduler_core.trace import codec
from scheduler_core.trace.events import ScoreColumns
from tests.analysis.compare.runs import HEAVIER, run, sample
from tests.generator.dumps import dump, read

SEEDS = range(4)
NAMES = [each.slug for each in sample_texts()]


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_identical_to_itself(name: str) -> None:
    objects, options = sample(name)
    found = compare(run(objects, options), run(objects, options))

    assert found.identical
    assert found.as_json()["first_divergence"] is None
    assert "identical" in found.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_is_identical_to_itself(seed: int) -> None:
    objects = read(dump(seed))
    found = compare(run(objects), run(objects))

    assert found.identical
    assert not found.inputs.differ
    assert found.cycles.differ == found.cycles.only_a == found.cycles.only_b == 0


@pytest.mark.parametrize("change", ["weight", "smaller node", "no node", "more priority", "draw"])
@pytest.mark.parametrize("seed", SEEDS)
def test_both_ways_say_the_same_and_cycles_before_the_parting_are_alike(
    seed: int, change: str
) -> None:
    objects = read(dump(seed))
    a, b = run(objects), changed_run(objects, change)
    found = compare(a, b)

    there, back = (json.loads(json.dumps(each.as_json())) for each in (found, compare(b, a)))
    assert without_words(there) == mirrored(without_words(back))

    first = found.parting.cycle_a or found.parting.cycle_b if found.parting else len(a.lines) + 1

    for line_a, line_b in zip(a.lines[: first - 1], b.lines[: first - 1], strict=True):
        assert line_a.outcome == line_b.outcome
    if found.outcome:
        assert found.parting
        assert found.outcome.cycle_a >= found.parting.cycle_a


@pytest.mark.parametrize("seed", SEEDS)
def test_a_changed_weight_parts_where_totals_first_differ(seed: int) -> None:
    objects = read(dump(seed))
    a, b = run(objects), run(objects, HEAVIER)
    found = compare(a, b)
    differing = (
        cycle for cycle in range(1, len(a.lines) + 1) if totals(a, cycle) != totals(b, cycle)
    )
    first = next(differing, None)

    if found.parting is None:
        assert first is None
    else:
        assert first == found.parting.cycle_a
        assert found.parting.difference.what == "weight"
        assert (found.parting.difference.a, found.parting.difference.b) == (1, 10)


def totals(lines: RunLines, cycle: int) -> list[int] | None:
    if cycle > len(lines.lines):
        return None
    chunk = next(each for each in lines.chunks if each.last_cycle >= cycle)
    found = codec.read_details(chunk.details).get(cycle, [])
    columns = [event for event in found if isinstance(event, ScoreColumns)]
    return np.concatenate([each.totals.array() for each in columns]).tolist() if columns else None


# ---------------------------------------------------------------- changes


def changed_run(objects: list[KubeObject], change: str) -> RunLines:
    match change:
        case "weight":
            return run(objects, HEAVIER)
        case "draw":
            return run(objects, RunOptions(tie_break="draw", seed=7))
        case "smaller node":
            return run(_with_first(objects, Node, _smaller))
        case "no node":
            node = next(each for each in objects if isinstance(each, Node))
            return run(each for each in objects if each is not node)
        case _:
            return run(_with_first(objects, Pod, _more_important))


def _with_first(objects: list[KubeObject], kind: type[Any], change: Any) -> list[KubeObject]:
    waiting = [each for each in objects if isinstance(each, kind) and _may_change(each)]
    return [change(each) if each is waiting[-1] else each for each in objects]


def _may_change(item: Node | Pod) -> bool:
    return isinstance(item, Node) or not item.spec.node_name


def _smaller(node: Node) -> Node:
    return replace(node, status=replace(node.status, allocatable={"cpu": "1", "pods": "3"}))


def _more_important(pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, priority=5000))


# ---------------------------------------------------------------- mirror

PAIRS = {
    "a": "b",
    "cycle_a": "cycle_b",
    "only_a": "only_b",
    "newly_bound": "newly_pending",
}
SWAPPED = PAIRS | {other: one for one, other in PAIRS.items()}


def mirrored(value: Any) -> Any:
    """Return a document with A and B swapped, all the way down."""
    if isinstance(value, dict):
        return {SWAPPED.get(key, key): mirrored(each) for key, each in value.items()}
    return [mirrored(each) for each in value] if isinstance(value, list | tuple) else value


def without_words(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out sentences, the order of resources, and whose pod a parting in the queue names."""
    document["utilisation"].sort(key=lambda row: row["resource"])
    for name in ("first_divergence", "first_outcome"):
        parting = document[name]
        if parting:
            parting.pop("sentence")
            parting.pop("causes", None)
            if parting["what"] == "pod":
                for key in ("pod", "attempt", "cycle"):
                    parting.pop(key)
            if not parting["cycle_a"] or parting["cycle_a"] != parting["cycle_b"]:
                parting.pop("cycle", None)
    document.pop("sentence")
    return document
