"""Plugins of other packages in runs: refused on a shared server, named where they run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kviz.runs.models import Run
from kviz.runs.sharing import run_share
from tests.plugin_packages import install
from tests.web.cast import Person, crowd, execute, problem

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
CONFIG = HEAD + "profiles:\n- plugins:\n    filter:\n      enabled:\n      - name: NorthOnly\n"

SOURCE = """\
from scheduler_core.framework.status import SUCCESS, Code, Status

class NorthOnly:
    name = "NorthOnly"

    def __init__(self, args, handle):
        pass

    def filter_node(self, state, pod, node):
        if node.name == "north":
            return SUCCESS
        return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) were not north",))
"""
BROKEN = """\
class NorthOnly:
    name = "NorthOnly"

    def __init__(self, args, handle):
        pass

    def filter_node(self, state, pod, node):
        return FAULT
"""


class Shelf:
    """Where packages are put for a test."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch

    def put(self, source: str = SOURCE, version: str = "1.0") -> None:
        place = self._folder / version
        place.mkdir()
        sys.modules.pop("north_only", None)
        install(
            place,
            self._monkeypatch,
            package="north-only",
            version=version,
            plugins={"NorthOnly": "north_only:NorthOnly"},
            modules={"north_only": source},
        )


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    yield Shelf(tmp_path, monkeypatch)
    sys.modules.pop("north_only", None)


def post(person: Person, config: str = CONFIG) -> Any:
    snapshot = str(person.snapshot().pk)
    return person.post("/runs/", {"snapshot": snapshot, "scheduler_config": config})


def test_a_run_with_a_plugin_says_so(ada: Person, shelf: Shelf) -> None:
    shelf.put()
    response = post(ada)
    assert response.status_code == 201
    execute(worker="test")

    run = ada.get(f"/runs/{response.json()['id']}/").json()
    assert run["status"] == "finished"
    assert run["out_of_tree_plugins"] == [
        {"name": "NorthOnly", "package": "north-only", "version": "1.0"}
    ]
    cycles = ada.get(f"/runs/{run['id']}/cycles/").json()["cycles"]
    assert {cycle["node"] for cycle in cycles if cycle["result"] == "scheduled"} == {"north"}


def test_the_page_of_a_run_says_so(ada: Person, shelf: Shelf) -> None:
    shelf.put()
    run = ada.finished(scheduler_config=CONFIG)
    token = run_share(run=run).token
    page = ada.client.get(f"/runs/{run.pk}?share={token}").content.decode()
    text = "Runs plugin NorthOnly from package north-only 1.0, which is not part of kviz."
    assert text in page


def test_a_run_without_says_nothing(ada: Person) -> None:
    assert ada.finished().out_of_tree_plugins == []


def test_a_shared_server_refuses(ada: Person, shelf: Shelf, settings: Any) -> None:
    shelf.put()
    settings.ALLOWED_PLUGINS = []
    (error,) = problem(post(ada), 400)["errors"]
    assert error["field"] == "scheduler_config"
    assert error["line"] == 7
    assert error["message"].endswith("its operator has to name it in KVIZ_ALLOW_PLUGINS")
    assert "north_only" not in sys.modules

    settings.ALLOWED_PLUGINS = ["NorthOnly"]
    assert post(ada).status_code == 201


def test_a_worker_that_may_not_refuses_too(ada: Person, shelf: Shelf, settings: Any) -> None:
    shelf.put()
    run = ada.queued(scheduler_config=CONFIG)
    settings.ALLOWED_PLUGINS = []
    execute(worker="test")
    run.refresh_from_db()
    assert run.status == Run.Status.FAILED
    assert "KVIZ_ALLOW_PLUGINS" in run.error


def test_an_unknown_plugin_is_unknown(ada: Person) -> None:
    (error,) = problem(post(ada), 400)["errors"]
    assert error["message"].endswith('FilterPlugin "NorthOnly" does not exist')
    assert error["line"] == 7


def test_another_version_than_the_run_was_made_with(ada: Person, shelf: Shelf) -> None:
    """A run that is taken up again must not be told by two authors."""
    shelf.put(version="1.0")
    run = ada.queued(scheduler_config=CONFIG)
    shelf.put(version="2.0")
    execute(worker="test")
    run.refresh_from_db()
    assert run.status == Run.Status.FAILED
    assert run.error == (
        "This run was made with plugin NorthOnly from north-only 1.0; installed now: "
        "plugin NorthOnly from north-only 2.0. Start a new run."
    )


# ---------------------------------------------------------------- plugins that break


def test_a_plugin_that_breaks_fails_the_run_by_name(ada: Person, shelf: Shelf) -> None:
    shelf.put(BROKEN)
    run = ada.queued(scheduler_config=CONFIG)
    execute(worker="test")
    run.refresh_from_db()
    assert run.status == Run.Status.FAILED
    assert run.error == (
        'plugin "NorthOnly" failed at Filter for pod shop/web-0 on node north: '
        "NameError: name 'FAULT' is not defined (north_only.py:8)"
    )
    assert run.claimed_by == ""


def test_what_came_before_the_failure_stays(ada: Person, shelf: Shelf) -> None:
    late = SOURCE.replace(
        'if node.name == "north"',
        'if pod.key == "shop/p-030":\n            return None\n        if node.name == "north"',
    )
    shelf.put(late)
    run = ada.queued(crowd(40), scheduler_config=CONFIG)
    execute(worker="test")
    run.refresh_from_db()
    assert run.status == Run.Status.FAILED
    assert run.error.startswith('plugin "NorthOnly" failed at Filter for pod shop/p-030 on node')
    assert run.error.endswith("returned None, not Status")
    assert run.cycles == 30
    cycles = ada.get(f"/runs/{run.pk}/cycles/").json()["cycles"]
    assert [cycle["cycle"] for cycle in cycles] == list(range(1, 31))
    assert ada.get(f"/runs/{run.pk}/cycles/30/").json()["result"] == "scheduled"


def test_the_worker_goes_on_after_a_failure(ada: Person, shelf: Shelf) -> None:
    shelf.put(BROKEN)
    broken = ada.queued(scheduler_config=CONFIG)
    fine = ada.queued()
    execute(worker="test")
    execute(worker="test")
    broken.refresh_from_db()
    fine.refresh_from_db()
    assert (broken.status, fine.status) == (Run.Status.FAILED, Run.Status.FINISHED)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            SOURCE.replace("        pass", '        raise ValueError("no such rack")'),
            'initializing plugin "NorthOnly": no such rack',
        ),
        (
            SOURCE + "\n    def events_to_register(self):\n        return None\n",
            'plugin "NorthOnly" failed at EventsToRegister: returned None, not Sequence',
        ),
        ("import nothing_of_that_name", "cannot load plugin NorthOnly from north-only 1.0: Module"),
    ],
)
def test_a_plugin_that_cannot_even_start(
    source: str, message: str, ada: Person, shelf: Shelf
) -> None:
    shelf.put(source)
    (error,) = problem(post(ada), 400)["errors"]
    assert error["field"] == "scheduler_config"
    assert message in error["message"]
