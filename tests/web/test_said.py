"""What a run says in kviz's words is said in the reader's language, wherever it is read."""

from __future__ import annotations

from typing import Any

import pytest

from kviz.runs.models import Run
from tests.web.cast import CLUSTER, Person
from tests.web.test_saved_runs import opened, saved

pytestmark = pytest.mark.django_db

SCENARIO = "steps: [{at: 1s, cordon: north}, {at: 2s, drain: nowhere}]"
GROUP = "apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {name: g}\n"
BROKEN = "apiVersion: v1\nkind: Pod\nmetadata: {name: broken}\n"
WITH_GROUP = f"{CLUSTER}\n---\n{GROUP}---\n{BROKEN}"
SAID = {
    "en": ("1 PodGroup", "Pod broken left out: ", "Drain node nowhere: there is none"),
    "zh-hans": ("1 个 PodGroup", "已略去 Pod broken", "腾空节点 nowhere\uff1a没有这个对象"),
    "zh-hant": ("1 個 PodGroup", "已略去 Pod broken", "排空節點 nowhere\uff1a沒有這個物件"),
}


def check(who: Person, run: str, language: str) -> None:
    group, left_out, refused = SAID[language]
    asked: Any = {"HTTP_ACCEPT_LANGUAGE": language}
    notes = who.get(f"/runs/{run}/", **asked).json()["not_modelled"]
    assert group in notes
    assert any(note.startswith(left_out) for note in notes)
    page = who.client.get(f"/runs/{run}", **asked).content.decode()
    assert all(text in page for text in (group, left_out, refused))


@pytest.mark.parametrize("language", SAID)
def test_on_pages_and_in_documents_also_of_a_run_from_a_file(owner: Person, language: str) -> None:
    run = owner.finished(WITH_GROUP, scenario=SCENARIO)
    check(owner, str(run.pk), language)
    again = opened(owner, saved(run)).json()["id"]
    assert Run.objects.get(pk=again).trace_hash == run.trace_hash
    check(owner, again, language)
