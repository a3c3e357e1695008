"""What was noted of an upload comes with a saved run, and is said in the reader's language."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kviz.run_file import Inputs
from kviz.runs.models import Run
from tests.web.cast import Person
from tests.web.english import english_in, english_on
from tests.web.test_no_english_left import NOTED
from tests.web.test_saved_runs import joined, opened, records, saved


@pytest.mark.parametrize("language", ["zh-hans", "zh-hant"])
def test_what_was_noted_of_an_upload_that_came_in_a_file(
    owner: Person, ben: Person, language: str
) -> None:
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": language}
    noted = ben.finished(NOTED)
    answer = opened(owner, saved(noted))
    assert answer.status_code == 201
    run = Run.objects.get(pk=answer.json()["id"])
    there, here = (f"/snapshots/{each.snapshot_id}/" for each in (noted, run))
    assert there != here
    english: dict[str, Any] = {}
    for as_asked in (english, spoken):
        was, found = ben.get(there, **as_asked).json(), owner.get(here, **as_asked).json()
        assert (found["warnings"], found["problems"]) == (was["warnings"], was["problems"])
    assert english_in(found["warnings"]) == english_in(found["problems"], frozenset()) == []
    assert len(found["warnings"]) >= 7
    owner.client.post("/language", {"language": language})
    page = owner.client.get(f"/snapshots/{run.snapshot_id}").content.decode()
    assert english_on(page) == []


def test_a_file_brings_no_templates_of_its_own(owner: Person, ben: Person) -> None:
    inputs, *others = records(saved(ben.finished()))
    assert isinstance(inputs, Inputs)
    made_up = ["{n.__class__} dropped", "2 {what} dropped", "x" * 9_000, "1 Secret dropped"]
    file = joined(msgspec.structs.replace(inputs, warnings=made_up), *others)
    run = opened(owner, file).json()["id"]
    snapshot = Run.objects.get(pk=run).snapshot_id
    assert owner.get(f"/snapshots/{snapshot}/").json()["warnings"] == made_up
    told = owner.get(f"/snapshots/{snapshot}/", HTTP_ACCEPT_LANGUAGE="zh-hans").json()
    assert told["warnings"][0] == made_up[0]
    assert told["warnings"][3] == "已丢弃 1 个 Secret"
