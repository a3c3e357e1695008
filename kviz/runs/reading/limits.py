"""What a real cluster may have to say to the changes of a run, before it is made."""

from __future__ import annotations

from dataclasses import dataclass

from kviz.runs.inputs import changes_of
from kviz.runs.models import Run
from kviz.runs.selectors import sentence_of
from kviz.snapshots.selectors import snapshot_objects_cached
from scheduler_core.changes import limits


@dataclass(frozen=True)
class ChangeChecked:
    """A change in words, and what a real cluster may have to say to it."""

    sentence: str
    limits: tuple[str, ...]


def change_limits(*, variant: Run) -> list[ChangeChecked]:
    """Return the changes of a variant that are its own, in their order."""
    if variant.snapshot is None:
        return []
    objects = list(snapshot_objects_cached(snapshot=variant.snapshot))
    said = limits(objects, [each.change for each in changes_of(variant)])
    sentences = list(map(sentence_of, variant.changes))
    own = slice(variant.n_inherited, None)
    return [
        ChangeChecked(sentence, each)
        for sentence, each in zip(sentences[own], said[own], strict=True)
    ]
