"""Why a run, a search or an experiment failed is said in the reader's language."""

from __future__ import annotations

import json
from string import Formatter
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from kviz import read_back
from kviz.common.time_limits import EXPERIMENT, RUN, SEARCH, TookTooLong
from kviz.experiments.execution.carry_out import WorkersDied as ExperimentDied
from kviz.experiments.models import Experiment
from kviz.read_back.grammar import SORTS
from kviz.read_back.reading import TEMPLATES
from kviz.runs.execution.record import WorkersDied as RunDied
from kviz.runs.models import Run
from scheduler_core.wording import Text
from tests.web.cast import Person, execute, person
from tests.web.english import english_on
from tests.web.test_live import path, socket, token
from tests.web.test_no_english_left import CHINESE
from tests.web.test_said_frames import asks_for, frames

DIED: tuple[Exception, ...] = (
    TookTooLong(RUN),
    TookTooLong(SEARCH),
    TookTooLong(EXPERIMENT),
    RunDied(),
    ExperimentDied(),
)
LANGUAGES = pytest.mark.parametrize("language", ["zh-hans", "zh-hant"])


def fails(**_: Any) -> Any:
    raise RuntimeError("out of order")


@pytest.mark.parametrize("reason", DIED, ids=str)
def test_a_reason_is_read_back(reason: Exception) -> None:
    read = read_back.failure(str(reason))
    assert isinstance(read, Text)
    assert read == str(reason)


def test_every_reason_is_read_back() -> None:
    known: dict[str, list[str]] = json.loads(TEMPLATES.read_bytes())
    inside = {"of": "a run"}
    for module in SORTS["failure"].modules:
        for template in known[module]:
            values = {
                name: 3 if form else inside.get(name, name)
                for _, name, form, _ in Formatter().parse(template)
                if name
            }
            text = template.format(**values)
            assert isinstance(read_back.failure(text), Text), template


@pytest.mark.django_db
@LANGUAGES
def test_a_run_that_failed(owner: Person, language: str) -> None:
    run = owner.queued()
    execute(worker="w", engine=fails)
    run.refresh_from_db()
    assert run.status == Run.Status.FAILED
    assert owner.get(f"/runs/{run.pk}/").json()["error"] == run.error
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": language}
    error = owner.get(f"/runs/{run.pk}/", **spoken).json()["error"]
    assert CHINESE.search(error)
    owner.client.post("/language", {"language": language})
    page = owner.client.get(f"/runs/{run.pk}").content.decode()
    assert error in page
    assert english_on(page) == []


@pytest.mark.django_db
@LANGUAGES
def test_an_experiment_that_failed(owner: Person, language: str) -> None:
    run = owner.finished()
    asked = {"run": str(run.pk), "kind": "luck", "asked": {"runs": 15}}
    made = owner.post("/experiments/", asked).json()["id"]
    error = str(TookTooLong(EXPERIMENT))
    Experiment.objects.filter(pk=made).update(status=Experiment.Status.FAILED, error=error)
    assert owner.get(f"/experiments/{made}/").json()["error"] == error
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": language}
    told = owner.get(f"/experiments/{made}/", **spoken).json()["error"]
    assert CHINESE.search(told)
    owner.client.post("/language", {"language": language})
    page = owner.client.get(f"/experiments/{made}").content.decode()
    assert told in page
    assert english_on(page) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("language", "is_chinese"), [("zh-hans", True), ("en", False)])
async def test_who_follows_a_run_is_told_why_it_failed(language: str, is_chinese: bool) -> None:
    @sync_to_async
    def failed() -> tuple[Person, Run]:
        ada = person()
        run = ada.queued()
        execute(worker="w", engine=fails)
        return ada, run

    ada, run = await failed()
    async with socket(path(run), [*token(ada), *asks_for(language)]) as communicator:
        *_, status = await frames(communicator, until="failed")
    assert (CHINESE.search(status["error"]) is not None) == is_chinese
