"""The templates by which sentences are read back are those that the engine says today."""

from __future__ import annotations

from kviz.catalogues.templates import templates
from kviz.read_back.reading import TEMPLATES


def test_the_written_down_templates_have_not_drifted() -> None:
    assert TEMPLATES.read_text(encoding="utf-8") == templates(), "write them again: make texts"
