"""A cycle that may be known up to a point: what comes after that point is nowhere."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from kviz.live.details import DETAIL
from kviz.runs import services
from kviz.runs.execution.engine import simulate_run
from kviz.runs.known import Known
from kviz.runs.models import Run
from kviz.runs.reading import trace
from kviz.runs.sharing import run_share
from scheduler_core.trace import codec
from scheduler_core.trace.events import (
    Assumed,
    CycleFinished,
    NodeSelected,
    PreemptionDecided,
    PreemptionDryRun,
    PreScoreFinished,
    ScoreColumns,
)
from tests.waiting import PATIENCE_S
from tests.web.cast import API, CLUSTER, NODES, Person, execute, person, pod, problem
from tests.web.test_hidden_cycles import addresses, content, frames
from tests.web.test_live import path, say, socket, token

WEIGHT = 7919
CONFIG = f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {{score: {{enabled: [{{name: NodeResourcesFit, weight: {WEIGHT}}}]}}}}
"""
"""With such a weight no number in an answer is a total or a weighted score by chance."""

CROWDED = (
    NODES
    + pod("one", "3", nodeName="north", priority=5)
    + pod("two", "2", nodeName="south", priority=3)
    + pod("web", "1m", priority=9)
    + pod("big", "2", priority=9)
)
"""`web` fits on both nodes; `big` has to evict either pod: `two`, of lower priority, is picked."""


def hidden(who: Person, known: Known, cluster: str = CLUSTER) -> Run:
    run = who.queued(
        cluster, scheduler_config=CONFIG, hidden_after=known.cycle, known_part=known.words
    )
    execute(worker="w")
    run.refresh_from_db()
    return run


def reveal(run: Run, upto: Known | None) -> None:
    services.run_reveal(run=run, upto=upto)
    execute(worker="w")
    run.refresh_from_db()


def events_of(run: Run) -> list[Any]:
    """Every event that is stored, with those of single nodes."""
    found: list[Any] = []
    for chunk in trace.chunks(run=run):
        found += codec.read_headers(chunk.headers)[1]
        for details in codec.read_details(chunk.details).values():
            found += details
    return found


def told_of(run: Run, cycle: int) -> dict[str, Any]:
    found = trace.cycle_or_part(run=run, cycle=cycle)
    assert found is not None
    return dict(found)


def secrets_of(whole: dict[str, Any]) -> set[str]:
    """Numbers that nobody may read before the whole cycle is revealed."""
    weighted = {
        str(score * found["weight"])
        for found in whole["scores"].values()
        for score in found["normalized"].values()
        if found["weight"] == WEIGHT
    }
    return {str(total) for total in whole["totals"].values()} | weighted


@pytest.mark.django_db
def test_up_to_filter_neither_scores_nor_the_node_are_stored(ada: Person) -> None:
    run = hidden(ada, Known(1, "Filter"))
    assert (run.status, run.cycles, run.is_hidden) == (Run.Status.PAUSED, 1, True)
    assert list(run.cycle_rows.values_list("number", flat=True)) == [1]
    assert run.pod_outcomes.exclude(node="").count() == 1
    events = events_of(run)
    for kind in (NodeSelected, PreScoreFinished, ScoreColumns, Assumed, CycleFinished):
        of_first = [each for each in events if isinstance(each, kind)]
        assert len(of_first) == 1, kind
    told = told_of(run, 2)
    assert told["feasible"] == ["north", "south"]
    assert (told["node"], told["result"], told["selection"]) == ("", "", None)
    assert (told["scores"], told["totals"], told["moves"], told["events"]) == ({}, {}, [], [])


@pytest.mark.django_db
@pytest.mark.parametrize("part", ["Score", "Score NodeResourcesFit", "NormalizeScore"])
def test_scores_are_stored_as_far_as_they_may_be_known(ada: Person, part: str) -> None:
    whole = told_of(ada.finished(CLUSTER, scheduler_config=CONFIG), 2)
    run = hidden(ada, Known.of(1, part))
    told = told_of(run, 2)
    assert told["scores"]
    for plugin, found in told["scores"].items():
        assert found["raw"] == whole["scores"][plugin]["raw"]
        shown = whole["scores"][plugin]["normalized"] if part == "NormalizeScore" else {}
        assert found["normalized"] == shown
    plugins = list(whole["scores"])
    upto = plugins.index("NodeResourcesFit") + 1 if " " in part else len(plugins)
    assert list(told["scores"]) == plugins[:upto]
    assert (told["node"], told["selection"], told["totals"]) == ("", None, {})


@pytest.mark.django_db
def test_dry_runs_are_known_before_a_node_is_picked(ada: Person) -> None:
    run = hidden(ada, Known(1, "DryRun"), CROWDED)
    told = told_of(run, 2)
    assert set(told["preemption"]["candidates"]) == {"north", "south"}
    assert "winner" not in told["preemption"]
    assert "criteria" not in told["preemption"]
    assert told["preemption"]["victims"] == []
    events = events_of(run)
    assert any(isinstance(each, PreemptionDryRun) for each in events)
    assert not any(isinstance(each, PreemptionDecided) for each in events)
    assert not run.pod_outcomes.exclude(evicted_in_cycle=None).exists()
    reveal(run, None)
    assert told_of(run, 2)["preemption"]["winner"] == "south"


@pytest.mark.django_db
@pytest.mark.parametrize("part", ["PreFilter", "Score"])
def test_no_answer_tells_what_comes_later_in_the_cycle(ada: Person, part: str) -> None:
    whole = told_of(ada.finished(CLUSTER, scheduler_config=CONFIG), 2)
    secrets = secrets_of(whole)
    assert len(secrets) >= 3
    run = hidden(ada, Known(1, part))
    assert services.run_resume(run=run)  # until it is revealed it stops again
    execute(worker="w")
    shared = f"?share={run_share(run=run).token}"
    run.refresh_from_db()
    known = told_of(run, 1)
    asked = sorted(addresses(run, 2, whole["pod"].partition("/")[2]))
    for address in asked:
        answers = [ada.client.get(address + shared, headers=ada.headers)]
        if address.startswith(API) and "cancel" not in address:
            sent = {"changes": [], "rules": [], "cycle": 2}
            answers.append(ada.post(address.removeprefix(API) + shared, sent))
        for answer in answers:
            assert answer.status_code != 500, address
            text = content(answer).decode("utf-8", "replace")
            for secret in secrets - secrets_of(known):
                assert secret not in text, (address, secret)
    assert len(asked) > 40
    assert Run.objects.get(pk=run.pk).cycles == 1


@pytest.mark.django_db
def test_what_needs_the_cycle_again_is_refused(ada: Person) -> None:
    run = hidden(ada, Known(1, "Filter"))
    for what in ("also", "state", "evidence", "model", "lab", "nodes/north"):
        found = problem(ada.get(f"/runs/{run.pk}/cycles/2/{what}/"), 409)
        assert "until it is revealed" in found["detail"], what
        assert ada.get(f"/runs/{run.pk}/cycles/1/{what}/").status_code == 200, what


@pytest.mark.django_db
def test_part_after_part_it_becomes_the_run_of_which_nothing_was_hidden(ada: Person) -> None:
    whole = ada.finished(CLUSTER, scheduler_config=CONFIG)
    run = hidden(ada, Known(0, "Filter"))
    for known in (
        Known(1, "Filter"),
        Known(1, "Score", ("NodeResourcesFit",)),
        Known(2),
        Known(2, "Score"),
    ):
        reveal(run, known)
        assert (run.known, run.cycles) == (known, known.cycle)
        assert run.chunks.filter(last_cycle__gt=known.cycle).count() == bool(known.part)
    services.run_reveal(run=run, upto=Known(1, "Filter"))  # what is known stays known
    assert run.known == Known(2, "Score")
    reveal(run, None)
    assert (run.status, run.trace_hash) == (Run.Status.FINISHED, whole.trace_hash)
    for cycle in range(1, run.cycles + 1):
        assert told_of(run, cycle) == told_of(whole, cycle)


@pytest.mark.django_db
@pytest.mark.parametrize("upto", [None, Known(1, "Score"), Known(3, "Filter")])
def test_what_was_revealed_while_the_cycle_was_simulated_is_not_cut(
    ada: Person, upto: Known | None
) -> None:
    run = ada.queued(CLUSTER, hidden_after=1, known_part="Filter")

    def engine(of: Run) -> Any:
        for event in simulate_run(of):
            if isinstance(event, PreScoreFinished):
                services.run_reveal(run=Run.objects.get(pk=of.pk), upto=upto)
            yield event

    execute(worker="w", engine=engine)
    run.refresh_from_db()
    if upto is None:
        assert (run.status, run.cycles) == (Run.Status.FINISHED, 5)
        return
    assert (run.status, run.cycles) == (Run.Status.PAUSED, upto.cycle)
    assert bool(told_of(run, upto.reach)["scores"]) == (upto.part == "Score")


def test_more_than_one_part_is_known_together() -> None:
    some, others = Known(3, "Score", ("A",)), Known(3, "Score", ("B",))
    assert some.and_also(others) == Known(3, "Score", ("A", "B"))
    assert some.and_also(Known(3, "Score")) == Known(3, "Score")
    assert some.and_also(Known(3, "Filter")) == some
    assert some.and_also(Known(4)) == Known(4)
    assert Known.of(3, some.words) == some
    assert (Known(3).reach, some.reach) == (3, 4)


@sync_to_async
def _hidden(known: Known) -> tuple[Person, Run]:
    ada = person()
    return ada, hidden(ada, known)


@pytest.mark.django_db(transaction=True)
async def test_no_frame_tells_what_comes_later_in_the_cycle() -> None:
    ada, run = await _hidden(Known(1, "Score"))
    async with socket(path(run), token(ada)) as line:
        before = await frames(line, '"paused"')
        await say(line, '{"details": [2]}')
        detail: dict[str, Any] = await output(line)
        columns = _scores_in(detail["bytes"])
        assert [len(columns.nodes.array()), len(columns.totals.array())] == [2, 0]
        assert all(not each.normalized.data for each in columns.plugins)
        await say(line, '{"got": 2}')
        events = _events_in(before)
        assert events[-1].__class__ is PreScoreFinished
        assert [each.cycle for each in events if isinstance(each, CycleFinished)] == [1]
        asked = {"preview": {"id": 1, "cycle": 2, "changes": []}}
        await say(line, json.dumps(asked))
        refused = await frames(line, '"problem"')
        assert "NodeResourcesFit" not in refused[-1]
        await sync_to_async(reveal)(run, None)
        after = await frames(line, '"finished"')
        assert any(isinstance(each, NodeSelected) for each in _events_in(after))
        await say(line, '{"details": [2]}')
        detail = await output(line)
        assert len(_scores_in(detail["bytes"]).totals.array()) == 2


async def output(line: Any) -> dict[str, Any]:
    found: dict[str, Any] = await line.receive_output(timeout=PATIENCE_S)
    return found


def _events_in(found: list[Any]) -> list[Any]:
    chunks = [codec.read_headers(each)[1] for each in found if isinstance(each, bytes)]
    return [event for chunk in chunks for event in chunk]


def _scores_in(frame: bytes) -> ScoreColumns:
    assert frame[0] == DETAIL
    details = codec.decode_details(gzip.decompress(frame[5:]))
    return next(each for each in details if isinstance(each, ScoreColumns))
