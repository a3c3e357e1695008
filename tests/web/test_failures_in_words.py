"""Why a run, a search or an experiment failed is said in the reader's language."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator

from kviz.common.time_limits import EXPERIMENT, RUN, SEARCH, TookTooLong
from kviz.experiments.execution.carry_out import WorkersDied as ExperimentDied
from kviz.experiments.models import Experiment
from kviz.runs.execution.record import WorkersDied as RunDied
from kviz.runs.models import Run
from scheduler_core.wording import Text, told
from tests.web.cast import Person, execute, person
from tests.web.english import english_on
from tests.web.test_live import Headers, next_frame, path, say, socket, token
from tests.web.test_no_english_left import CHINESE

DIED: tuple[Exception, ...] = (
    TookTooLong(RUN),
    TookTooLong(SEARCH),
    TookTooLong(EXPERIMENT),
    RunDied(),
    ExperimentDied(),
)
LANGUAGES = pytest.mark.parametrize("language", ["zh-hans", "zh-hant"])


async def frames(communicator: ApplicationCommunicator, *, until: str) -> list[Any]:
    """What comes up to a status that says so; chunks are acknowledged."""
    found: list[Any] = []
    while not found or not isinstance(found[-1], dict) or found[-1].get("status") != until:
        found.append(await next_frame(communicator))
        if isinstance(found[-1], tuple):
            await say(communicator, json.dumps({"ack": found[-1][1]}))
    return found


def asks_for(language: str) -> Headers:
    return [(b"accept-language", language.encode())]


def fails(**_: Any) -> Any:
    raise RuntimeError("out of order")


@pytest.mark.parametrize("reason", DIED, ids=str)
def test_a_reason_is_a_sentence(reason: Exception) -> None:
    assert isinstance(told(reason), Text)


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
    error = told(TookTooLong(EXPERIMENT))
    Experiment.objects.filter(pk=made).update(status=Experiment.Status.FAILED, error=error)
    assert owner.get(f"/experiments/{made}/").json()["error"] == error
    spoken: Any = {"HTTP_ACCEPT_LANGUAGE": language}
    spoken_error = owner.get(f"/experiments/{made}/", **spoken).json()["error"]
    assert CHINESE.search(spoken_error)
    owner.client.post("/language", {"language": language})
    page = owner.client.get(f"/experiments/{made}").content.decode()
    assert spoken_error in page
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
