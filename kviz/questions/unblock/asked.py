"""What an experiment about a pending pod may be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kviz.runs.models import Run
from scheduler_core.analysis.advice.unblock import MAX_RUNS


class Unblock(msgspec.Struct, forbid_unknown_fields=True):
    """What would let a pending pod bind, `namespace/name`."""

    pod: Annotated[str, Meta(pattern="^[^/]+/[^/]+$", max_length=400)]
    owner: bool = False
    """All pending pods of its owner are to bind."""


def checked(asked: Unblock, _beginning: Run) -> dict[str, Any]:
    return {"pod": asked.pod, "owner": asked.owner}


def expected(_asked: Mapping[str, Any], _counts: Mapping[str, int]) -> int:
    return MAX_RUNS
