"""What kviz says of a configuration, in the reader's language; upstream's messages as they are."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scheduler_core.config.source import MAX_BYTES
from tests.web.cast import Person
from tests.web.english import english_on
from tests.web.test_no_english_left import CHINESE

LANGUAGES = pytest.mark.parametrize("language", ["zh-hans", "zh-hant"])
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


def asked(owner: Person, language: str, **inputs: object) -> list[dict[str, Any]]:
    """What a run with these inputs is refused for."""
    snapshot = owner.snapshot()
    spoken: Any = {"headers": {**owner.headers, "accept-language": language}}
    answer = owner.client.post(
        "/api/v1/runs/",
        {"snapshot": str(snapshot.pk), **inputs},
        content_type="application/json",
        **spoken,
    )
    assert answer.status_code == 400
    errors: list[dict[str, Any]] = answer.json()["errors"]
    return errors


@LANGUAGES
@pytest.mark.parametrize("what", SAID)
def test_what_kviz_says_is_translated(owner: Person, what: str, language: str) -> None:
    errors = asked(owner, language, scheduler_config=SAID[what])
    assert [each["message"] for each in errors if not CHINESE.search(each["message"])] == []


@LANGUAGES
@pytest.mark.parametrize("what", VERBATIM)
def test_what_upstream_says_is_not(owner: Person, what: str, language: str) -> None:
    text, message = VERBATIM[what]
    [error] = asked(owner, language, scheduler_config=text)
    assert message in error["message"]


@pytest.mark.parametrize("what", SAID)
def test_scripts_read_it_in_english(owner: Person, what: str) -> None:
    errors = asked(owner, "en", scheduler_config=SAID[what])
    assert [each["message"] for each in errors if CHINESE.search(each["message"])] == []


@LANGUAGES
def test_gates_are_refused_in_the_readers_language(owner: Person, language: str) -> None:
    for gates in ({"EvenPodsSpread": True}, {"DRADeviceTaint": True}, {"GangScheduling": True}):
        errors = asked(owner, language, feature_gates=gates)
        assert [each["message"] for each in errors if not CHINESE.search(each["message"])] == []


@LANGUAGES
def test_the_page_of_a_new_run_says_so_too(owner: Person, language: str) -> None:
    snapshot = owner.snapshot()
    owner.client.post("/language", {"language": language})
    for text in SAID.values():
        sent = {"snapshot": str(snapshot.pk), "scheduler_config": text}
        answer = owner.client.post("/runs/new", sent)
        assert answer.status_code == 400
        left = english_on(answer.content.decode())
        assert [line for line in left if not UPSTREAM.search(line)] == []
