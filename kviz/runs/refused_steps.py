"""Which steps of a scenario could not be carried out, read off what their flags say.

Pure: no database. A step that is refused changes nothing, and its flag says why
(`scheduler_core.sim.steps`); the trace has no other mark of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from scheduler_core.sim import Scenario
from scheduler_core.trace.events import HeaderEvent, ScenarioStepped

_REFUSAL: Final = re.compile(
    r"(refused, .*|forbidden, .*|there is none|there is no such taint|it has no pod to copy)",
    re.DOTALL,
)


@dataclass(frozen=True)
class RefusedStep:
    """`number` counts the steps from 1 in order of time; `text` is what the flag says."""

    number: int
    text: str


def refused_steps(events: Iterable[HeaderEvent], scenario: Scenario) -> list[RefusedStep]:
    """The refused ones among the steps that `events` play of the scenario."""
    return [
        RefusedStep(event.index + 1, event.text)
        for event in events
        if isinstance(event, ScenarioStepped)
        and _is_refusal(event.text, scenario.steps[event.index].note)
    ]


def _is_refusal(text: str, note: str) -> bool:
    """The author's word, which comes first, may say anything: only the rest counts."""
    if note:
        text = text.removeprefix(f"{note} (").removesuffix(")")
    return _REFUSAL.fullmatch(text.partition(": ")[2]) is not None
