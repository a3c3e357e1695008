"""A scheduler of another release is named as the cause, and nothing is searched for."""

from __future__ import annotations

from dataclasses import replace as with_fields
from itertools import islice

import pytest
from msgspec.structs import replace

from kviz.following import reality
from kviz.following.another_release import another_release
from kviz.following.changes import Change, Listed
from kviz.following.follower import Journal
from kviz.following.moments import Moment
from kviz.following.reality import check, score
from kviz.following.recording import journal_lines, journal_of, parse_lines
from kviz.following.text import as_json, as_text
from scheduler_core.api import Pod
from scheduler_core.api.pod import PodSchedulingGroup
from scheduler_core.config import FeatureGates, default_configuration
from scheduler_core.releases import RELEASES
from scheduler_core.scheduler.assembly import SchedulerOptions
from tests.following.recorded import followed


def options(release: str) -> SchedulerOptions:
    gates = FeatureGates((), RELEASES[release])
    return SchedulerOptions(configuration=default_configuration(gates), features=gates)


def never(moment: Moment, options: SchedulerOptions) -> None:
    raise AssertionError("another state was tried")


def journal() -> Journal:
    return with_fields(followed().journal)


def rewritten(old: str, new: str) -> Journal:
    """The journal as if messages had been written otherwise."""
    changes: list[Change] = []
    for change in followed().journal.changes:
        pod = change.item
        if isinstance(pod, Pod) and not pod.spec.node_name:
            conditions = tuple(
                replace(each, message=each.message.replace(old, new))
                for each in pod.status.conditions
            )
            pod = replace(pod, status=replace(pod.status, conditions=conditions))
            change = with_fields(change, item=pod)
        changes.append(change)
    return with_fields(followed().journal, changes=changes)


def test_the_right_release_is_not_blamed() -> None:
    assert another_release(journal(), options("1.36.2")) == ""
    assert another_release(journal(), options("1.36.3")) == ""


def test_texts_that_the_release_does_not_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reality, "_in_another_state", never)
    found = list(islice(check(journal(), options("1.37.2")), 60))
    causes = {each.cause for each in found if not each.explained}
    assert causes == {"release"}
    said = next(each.sentence for each in found if each.cause)
    assert said == (
        'Messages say "no new claims to deallocate", so this is no scheduler of v1.37.2; '
        "v1.36.3 writes so."
    )


def test_messages_of_another_scheduler_say_nothing_of_this_one() -> None:
    changes = [
        with_fields(change, item=replace(pod, spec=replace(pod.spec, scheduler_name="batch")))
        if isinstance(pod := change.item, Pod)
        else change
        for change in journal().changes
    ]
    assert another_release(with_fields(journal(), changes=changes), options("1.37.2")) == ""


@pytest.mark.parametrize(("was_there", "said"), [(True, False), (False, True)])
def test_a_message_of_before_an_upgrade_says_nothing_of_the_release_after_it(
    was_there: bool, said: bool
) -> None:
    told, pod = next(
        (change, pod)
        for change in journal().changes
        if isinstance(pod := change.item, Pod)
        and any("no new claims to deallocate" in each.message for each in pod.status.conditions)
    )
    before = pod if was_there else replace(pod, status=replace(pod.status, conditions=()))
    seen = Journal([Listed("pods", told.version, (before,))], [told])
    assert (another_release(seen, options("1.37.2")) != "") is said


def test_texts_that_the_release_would_have_written() -> None:
    quiet = rewritten(" no new claims to deallocate,", "")
    assert another_release(quiet, options("1.36.2")) == (
        'Messages about preemption do not say "no new claims to deallocate", so this is no '
        "scheduler of v1.36.2; v1.37.2 writes so."
    )


def test_a_release_without_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reality, "_in_another_state", never)
    newer = with_fields(journal(), server_version="v1.38.1")
    found = list(islice(check(newer, options("1.37.2")), 60))
    assert {each.sentence for each in found if not each.explained} == {
        "kviz compares with v1.37.2: the API server says v1.38.1, newer than all releases that "
        "kviz knows."
    }


def test_pods_in_groups_are_not_modelled() -> None:
    changes = [
        with_fields(
            change,
            item=replace(
                change.item,
                spec=replace(
                    change.item.spec, scheduling_group=PodSchedulingGroup(pod_group_name="g")
                ),
            ),
        )
        if isinstance(change.item, Pod)
        else change
        for change in followed().journal.changes[:200]
    ]
    found = list(check(with_fields(journal(), changes=changes), SchedulerOptions()))
    grouped = [each for each in found if each.agreement == "not modelled"]
    assert grouped
    total = score(found)
    assert total.n_not_modelled == len(grouped)
    assert total.n_decisions == len(found) - len(grouped)
    assert total.sentence.endswith(f"{len(grouped)} more are about pods in groups: not modelled.")


def test_a_recording_says_which_server_it_is_of() -> None:
    journal = Journal(followed().journal.lists, server_version="v1.37.1")
    again = journal_of(parse_lines(journal_lines(journal)))
    assert again.server_version == "v1.37.1"
    assert again.release_told == "server v1.37.1"


def test_the_document_names_the_release() -> None:
    wanted = options("1.36.2")
    found = list(islice(check(journal(), wanted), 3))
    gates = replace(wanted.features, release_told="nodes v1.36.1")
    document = as_json(found, score(found), gates)
    assert (document["release"], document["releaseText"], document["notModelled"]) == (
        "1.36.2",
        "1.36.2 (nodes say v1.36.1)",
        0,
    )
    assert as_text(found, score(found), gates).endswith(
        "\nKubernetes v1.36.2 (nodes say v1.36.1)\n"
    )
