"""Whoever sits at the machine."""

from __future__ import annotations

import pytest

from kviz.accounts.services import local_workspace_ensure, token_create
from tests.web.cast import Person


@pytest.fixture
def local(db: None) -> Person:
    workspace = local_workspace_ensure()
    return Person(workspace, token_create(workspace=workspace))
