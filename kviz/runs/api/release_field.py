"""REST: a release as it is asked for."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from kviz.common.wording import translated
from scheduler_core.releases import RELEASES, UnknownRelease
from scheduler_core.releases.choosing import AUTO, release_asked

RELEASE_TEXT: Final = {
    "type": "string",
    "description": "The release that the run follows, and what it was chosen by.",
}
"""The schema of `release_text` beside a list."""


class ReleaseField(serializers.ChoiceField):
    """A release by name, or `auto`; a minor release is its newest patch."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=(AUTO, *RELEASES), **options)

    def to_internal_value(self, data: Any) -> str:
        try:
            return release_asked(str(data))
        except UnknownRelease as unknown:
            raise serializers.ValidationError(translated(unknown.text)) from None
