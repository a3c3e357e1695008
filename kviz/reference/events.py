"""Cluster events in words: which kind of object, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from kviz.reference.form import Part, Prose, read_file
from scheduler_core.framework.events import ActionType, ClusterEvent, EventResource

FILE: Final = Path(__file__).with_name("events.yaml")
CONTEXT: Final = "event"
"""Of these texts in the catalogues."""


class EventTexts(Part, frozen=True):
    """Words for each resource and each action of upstream's labels."""

    kinds: dict[EventResource, Prose]
    changes: dict[str, Prose]


def event_text(label: str, put: Callable[[str], str] = str) -> str:
    """Return a label such as `NodeAdd` in words, each of which `put` may translate.

    The label itself if it is not one of upstream's.
    """
    found = _words().get(label)
    if found is None:
        return label
    kind, change = found
    return put(change).format(kind=put(kind))


@cache
def event_texts() -> EventTexts:
    return read_file(FILE, EventTexts)


@cache
def _words() -> dict[str, tuple[str, str]]:
    texts = event_texts()
    actions = (*ActionType, ActionType.UPDATE)
    return {
        event.label: (kind, texts.changes[event.label.removeprefix(event.resource)])
        for resource, kind in texts.kinds.items()
        for event in (ClusterEvent(resource, action) for action in actions)
    }
