"""English sentences of the engine, read back into the templates and values they were made of.

A trace, a run's row and a `.kviz` file hold the English alone (docs/adr/0044). What is read back
is a text that can be said in another language; its English is the same, letter by letter. What is
not known stays as it is.

``grammar``         which modules say a sort of sentence, and what stands in the places of them
``reading``         how a sentence is held against templates
``templates.json``  the templates, by module: written by `make texts`, as the catalogues are
"""

from __future__ import annotations

from collections.abc import Iterable

from kviz.read_back.grammar import EVICTION, FAILURE, NOTE, PROBLEM, STEP, STOP
from kviz.read_back.reading import read

__all__ = ["eviction", "failure", "note", "notes", "problem", "step", "stop_reason"]


def step(text: str) -> str:
    """Return what a step of a scenario did, or why it was refused."""
    return read(STEP, text)


def eviction(text: str) -> str:
    """Return why a pod had to leave its node, where that was not for another pod."""
    return read(EVICTION, text)


def failure(text: str) -> str:
    """Return why a run, an experiment or the search for an optimum failed."""
    return read(FAILURE, text)


def stop_reason(text: str) -> str:
    """Return why a run stopped early."""
    return read(STOP, text)


def note(text: str) -> str:
    """Return what is not modelled of a run or left out of it, or a warning of an upload."""
    return read(NOTE, text)


def notes(texts: Iterable[str]) -> list[str]:
    """Return the same of several."""
    return [note(text) for text in texts]


def problem(text: str) -> str:
    """Return what is wrong with a field of an object, or with a file."""
    return read(PROBLEM, text)
