"""Fixtures of the web tests: the cast of `cast.py`."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.test import Client

from kviz.accounts.services import local_workspace_ensure, token_create
from kviz.questions.luck import services as luck
from kviz.runs.execution import record
from tests.web.cast import Person, person


@pytest.fixture
def ada(db: None) -> Person:
    return person()


@pytest.fixture
def ben(db: None) -> Person:
    return person()


@pytest.fixture
def owner(db: None) -> Person:
    """Whoever sits at the machine: the browser is in the local workspace at once."""
    workspace = local_workspace_ensure()
    return Person(workspace, token_create(workspace=workspace))


@pytest.fixture
def eve(db: None) -> Client:
    """A browser nobody knows; checked for forgery as browsers are."""
    return Client(enforce_csrf_checks=True, raise_request_exception=False)


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    cache.clear()


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few runs say whether luck is found out, stored and shown."""
    monkeypatch.setattr(luck, "RUNS", 4)


@pytest.fixture(autouse=True)
def _slow_machines_cut_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut chunks where they are full, not where a quarter of a second has gone by."""
    monkeypatch.setattr(record, "FLUSH_S", 3600.0)
