"""What an experiment about luck may be asked, and how the form asks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from django.http import QueryDict
from django.utils.translation import gettext as _
from msgspec import Meta

from kviz.experiments.kinds import refused
from kviz.questions.luck.jobs import MAX_RUNS, RUNS, expected_tosses
from kviz.runs.models import Run
from scheduler_core.analysis.advice.coins import COINS, Coin


class Luck(msgspec.Struct, forbid_unknown_fields=True):
    """Runs with the coins tossed that kviz pins; without `coins` those that the release has."""

    runs: Annotated[int, Meta(ge=1, le=MAX_RUNS)] = RUNS
    coins: list[Coin] = []


def checked(asked: Luck, _beginning: Run) -> dict[str, Any]:
    return {"runs": asked.runs, "coins": asked.coins}


def expected(asked: Mapping[str, Any], _counts: Mapping[str, int]) -> int:
    return expected_tosses(asked["runs"], len(asked["coins"] or COINS))


def asked_in(given: QueryDict) -> dict[str, object]:
    """What a sent form asks. Raises InvalidInput."""
    runs = given.get("runs", "").strip()
    if not runs:
        return {}
    if not runs.isdecimal():
        raise refused("runs", _('"%s" is no number of runs.') % runs)
    return {"runs": int(runs)}
