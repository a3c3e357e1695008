"""The recording that the tests follow, and what came of it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TypedDict

from kviz.following.recording import Line, Replayed, read_lines, replay

DATA = Path(__file__).parent / "data"
CHURN = DATA / "churn.jsonl.gz"


class PodOutcome(TypedDict):
    pod: str
    node: str | None
    messages: list[str]
    deleted: bool


@cache
def lines() -> tuple[Line, ...]:
    return tuple(read_lines(CHURN))


@cache
def followed() -> Replayed:
    return replay(lines())


def outcome() -> list[PodOutcome]:
    found: list[PodOutcome] = json.loads((DATA / "outcome.json").read_text())
    return found
