"""Runs without cached answers: every plugin is called in each cycle about all it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from scheduler_core.framework import runtime
from scheduler_core.framework.plugin_calls import PluginCalls


@contextmanager
def without_memo() -> Iterator[None]:
    """Put the plain calls in the place of the memo, for the schedulers made meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime, "Memo", PluginCalls)
        yield
