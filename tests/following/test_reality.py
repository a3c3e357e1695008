"""The reality check over a recorded minute: what agrees, and that no more is said than is known."""

from __future__ import annotations

import json
from dataclasses import replace as replace_with
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from msgspec.structs import replace

from kviz.cli.main import main
from kviz.following.changes import Change
from kviz.following.follower import Journal
from kviz.following.moments import moments
from kviz.following.reality import Compared, check, compare, score
from kviz.following.text import as_text
from scheduler_core.api import Pod
from scheduler_core.config import FeatureGates, load_configuration
from scheduler_core.scheduler.assembly import SchedulerOptions
from tests.following.recorded import CHURN, followed

N_DECISIONS = 177


@cache
def compared() -> list[Compared]:
    return list(check(followed().journal, SchedulerOptions()))


@pytest.mark.slow("replays a recorded cluster")
def test_how_much_agrees() -> None:
    total = score(compared())
    assert total.n_decisions == N_DECISIONS == len(followed().decisions)
    assert dict(total.counts) == {
        "same": 78,
        "among the equals": 40,
        "same where others were looked at": 0,
        "same once later bindings count as assumed": 0,
        "message the same": 22,
        "speaks of the state before": 7,
        "same in another order of bindings": 30,
        "unexplained": 0,
        "not modelled": 0,
    }


def bindings() -> Journal:
    """The journal up to the first bindings, before anything is close to anything."""
    journal = followed().journal
    return Journal(journal.lists, journal.changes[:120])


def test_another_node_is_not_explained_away() -> None:
    """While nothing else changes, no binding is explained on another node that fits."""
    told = 0
    for moment in moments(bindings()):
        known = compare(moment, SchedulerOptions())
        others = sorted(known.kviz.feasible - set(known.kviz.tied))
        if moment.decision.what == "message" or not others:
            continue
        lie = replace_with(moment.decision, node=others[-1])
        moment.decision, moment.past, moment.ahead = lie, (), ()
        found = compare(moment, SchedulerOptions())
        assert not found.explained
        told += 1
    assert told >= 3


def test_made_up_bindings_amid_churn_are_seldom_explained_away() -> None:
    """What is left of them are ties among equals decided by luck, and changes heard late."""
    told = explained = 0
    for moment in moments(followed().journal):
        decision = moment.decision
        if decision.what == "message" or decision.number % 4:
            continue
        known = compare(moment, SchedulerOptions())
        others = sorted(known.kviz.feasible - set(known.kviz.tied) - {decision.node})
        if others:
            node = others[decision.number % len(others)]
            moment.decision = replace_with(decision, node=node)
            told += 1
            explained += compare(moment, SchedulerOptions()).explained
    assert told > 15
    assert explained <= told // 5


def test_another_message_is_not_explained_away() -> None:
    changes: list[Change] = []
    for change in followed().journal.changes:
        pod = change.item
        if isinstance(pod, Pod) and not pod.spec.node_name:
            conditions = tuple(
                replace(each, message=f"{each.message} Really.") for each in pod.status.conditions
            )
            pod = replace(pod, status=replace(pod.status, conditions=conditions))
            change = Change(change.resource, change.what, change.version, change.at_ns, pod)
        changes.append(change)
    messages = (
        moment
        for moment in moments(Journal(followed().journal.lists, changes))
        if moment.decision.what == "message"
    )
    found = [compare(moment, SchedulerOptions()) for moment in islice(messages, 6)]
    assert len(found) == 6
    assert not any(each.explained for each in found)


MOST_ALLOCATED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""


def test_a_wrong_configuration_shows() -> None:
    options = SchedulerOptions(configuration=load_configuration(MOST_ALLOCATED))
    found = list(check(bindings(), options))
    right = list(check(bindings(), SchedulerOptions()))
    assert score(found).n_explained < score(right).n_explained


def test_the_configuration_is_not_blamed_for_what_changed_just_before() -> None:
    options = SchedulerOptions(configuration=load_configuration(MOST_ALLOCATED))
    causes = set()
    for moment in moments(bindings()):
        found = compare(moment, options)
        if not found.explained:
            causes.add((found.cause, any(True for _ in moment.before_changes())))
            moment.past, moment.ahead = (), ()
            quiet = compare(moment, options)
            causes.add((quiet.cause, False))
            assert f"      most likely {quiet.cause}: " in as_text(
                [quiet], score([quiet]), FeatureGates()
            )
    assert causes == {("race", True), ("not known", True), ("configuration", False)}


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["follow", str(CHURN), "--json"]) == 0
    decisions = json.loads(capsys.readouterr().out)["decisions"]
    assert len(decisions) == N_DECISIONS
    assert decisions[0]["node"]
    assert decisions[0]["message"] is None


def test_a_file_that_is_no_recording(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["follow", str(tmp_path / "none.jsonl")]) == 2
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"type": "SYNCED"}\nnonsense\n')
    assert main(["follow", str(bad)]) == 1
    assert "begins with a list" in capsys.readouterr().err
