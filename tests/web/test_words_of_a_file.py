"""What was noted of an upload comes with a saved run, and is said in the reader's language."""

from __future__ import annotations

from typing import Any

import msgspec
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from kviz.run_file import FAMILY, ChangeMade, Inputs, Outcome
from kviz.runs.models import Run
from tests.web.cast import API, Person
from tests.web.english import english_in, english_on
from tests.web.test_no_english_left import CHINESE, NOTED
from tests.web.test_saved_runs import joined, opened, records, saved


def test_what_was_noted_of_an_upload_that_came_in_a_file(owner: Person, ben: Person) -> None:
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
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
    owner.client.post("/language", {"language": "zh-hans"})
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
    assert told["warnings"] == made_up


def broken(run: Run) -> dict[str, bytes]:
    """Files that are no run, each for another reason."""
    inputs, *parts, outcome = records(saved(run))
    assert isinstance(inputs, Inputs)
    assert isinstance(outcome, Outcome)
    whole = joined(inputs, *parts, outcome)
    other = msgspec.structs.replace(inputs, engine_version="0.0.0")
    return {
        "something else": b"apiVersion: v1\n",
        "another format": FAMILY + b"9\n",
        "cut off": whole[:-5],
        "no inputs": joined(outcome),
        "two runs": joined(inputs, inputs, outcome),
        "no records": whole[:10] + b"\xc1" * 40,
        "no cluster": joined(msgspec.structs.replace(inputs, objects=b"x"), *parts, outcome),
        "no cluster of another engine": joined(
            msgspec.structs.replace(other, objects=b"x"), *parts, outcome
        ),
        "a change that is none": joined(
            msgspec.structs.replace(inputs, changes=[ChangeMade(0, '{"cordon": 5}')]),
            *parts,
            outcome,
        ),
        "a change of another cluster": joined(
            msgspec.structs.replace(inputs, changes=[ChangeMade(0, '{"cordon": "x"}')]),
            *parts,
            outcome,
        ),
        "another hash": joined(inputs, *parts, Outcome("finished", "0" * 64)),
        "another end": joined(inputs, *parts, Outcome("queued", outcome.trace_hash)),
        "no trace": joined(inputs, outcome),
    }


def test_why_a_file_is_no_run(owner: Person) -> None:
    files = broken(owner.finished())
    for what, file in files.items():
        answer = owner.client.post(
            f"{API}/runs/file/",
            {"file": SimpleUploadedFile("some.kviz", file)},
            headers={**owner.headers, "accept-language": "zh-hans"},
        )
        assert answer.status_code == 400, what
        assert CHINESE.search(answer.json()["detail"]), (what, answer.json()["detail"])
    owner.client.post("/language", {"language": "zh-hans"})
    sent = {"file": SimpleUploadedFile("some.kviz", files["cut off"])}
    page = owner.client.post(reverse("run-open"), sent)
    assert page.status_code == 400
    assert CHINESE.search(page.content.decode().partition('class="problems"')[2])
