"""What kviz says of a configuration, in the reader's language; upstream's messages as they are."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kviz.snapshots.models import Snapshot
from scheduler_core.config.source import MAX_BYTES
from tests.web.cast import Person
from tests.web.english import english_on
from tests.web.test_no_english_left import CHINESE

KIND = "kind: KubeSchedulerConfiguration\n"
HEAD = f"apiVersion: kubescheduler.config.k8s.io/v1\n{KIND}"
SAID: dict[str, str] = {
    "empty": "# nothing",
    "a list": "- a\n",
    "no kind": "apiVersion: kubescheduler.config.k8s.io/v1\n",
    "another kind": "apiVersion: v1\nkind: Pod\n",
    "an old version": f"apiVersion: kubescheduler.config.k8s.io/v1beta2\n{KIND}",
    "a policy": "apiVersion: v1\nkind: Policy\npredicates:\n- name: GeneralPredicates\n",
    "an old field": f"{HEAD}disablePreemption: true\n",
    "an old plugin": f"{HEAD}profiles:\n- plugins: {{score: {{enabled: [{{name: NodeLabel}}]}}}}\n",
    "a misspelt field": f"{HEAD}profile: []\n",
    "a wrong type": f"{HEAD}profiles: 3\n",
    "a text for a number": f"{HEAD}parallelism: many\n",
    "a number for a text": f"{HEAD}profiles: [{{schedulerName: 7}}]\n",
    "a number for yes or no": f"{HEAD}enableProfiling: 7\n",
    "a list for a duration": f"{HEAD}leaderElection: {{leaseDuration: []}}\n",
    "too large a number": f"{HEAD}parallelism: 99999999999\n",
    "two documents": f"{HEAD}---\n{HEAD}",
    "too much": HEAD + "#" * MAX_BYTES,
    "too deep": '{"profiles": ' + "[" * 3000 + "]" * 3000 + "}",
}
"""Configurations of which kviz itself says what is wrong."""

UPSTREAM = re.compile('no kind ".*" is registered for version|Plugin "NodeLabel" does not exist')
"""What stands before some of it."""

VERBATIM: dict[str, tuple[str, str]] = {
    "no such plugin": (
        f"{HEAD}profiles: [{{plugins: {{score: {{enabled: [{{name: Mine}}]}}}}}}]\n",
        'ScorePlugin "Mine" does not exist',
    ),
    "a value": (
        f"{HEAD}parallelism: 0\n",
        "Invalid value: 0: should be an integer value greater than zero",
    ),
    "a field": (f"{HEAD}zebra: 1\n", 'unknown field "zebra"'),
    "a key": (f"{HEAD}kind: b\n", 'key "kind" already set in map'),
}
"""Messages of kube-scheduler, which one searches for."""


def refused(owner: Person, language: str, **inputs: object) -> list[dict[str, Any]]:
    """What a run with these inputs is refused for."""
    spoken: Any = {"headers": {**owner.headers, "accept-language": language}}
    answer = owner.client.post("/api/v1/runs/", inputs, content_type="application/json", **spoken)
    assert answer.status_code == 400, inputs
    errors: list[dict[str, Any]] = answer.json()["errors"]
    return errors


def asked(
    owner: Person, snapshot: Snapshot, language: str = "zh-hans", **inputs: object
) -> list[dict[str, Any]]:
    """What a run of a cluster is refused for."""
    return refused(owner, language, snapshot=str(snapshot.pk), **inputs)


@pytest.mark.slow("renders a form for each mistake")
def test_what_kviz_says_is_translated_and_scripts_read_it_in_english(owner: Person) -> None:
    snapshot = owner.snapshot()
    for what, text in SAID.items():
        chinese, english = (
            asked(owner, snapshot, language, scheduler_config=text)
            for language in ("zh-hans", "en")
        )
        assert all(CHINESE.search(each["message"]) for each in chinese), what
        assert not any(CHINESE.search(each["message"]) for each in english), what


@pytest.mark.parametrize("what", VERBATIM)
def test_what_upstream_says_is_not(owner: Person, what: str) -> None:
    text, message = VERBATIM[what]
    [error] = asked(owner, owner.snapshot(), scheduler_config=text)
    assert message in error["message"]


def test_gates_are_refused_in_the_readers_language(owner: Person) -> None:
    snapshot = owner.snapshot()
    for gates in ({"EvenPodsSpread": True}, {"DRADeviceTaint": True}, {"GangScheduling": True}):
        errors = asked(owner, snapshot, feature_gates=gates)
        assert all(CHINESE.search(each["message"]) for each in errors), gates


def test_the_page_of_a_new_run_says_so_too(owner: Person) -> None:
    sent = {"snapshot": str(owner.snapshot().pk), "scheduler_config": SAID["an old plugin"]}
    owner.client.post("/language", {"language": "zh-hans"})
    answer = owner.client.post("/runs/new", sent)
    assert answer.status_code == 400
    left = english_on(answer.content.decode())
    assert [line for line in left if not UPSTREAM.search(line)] == []
