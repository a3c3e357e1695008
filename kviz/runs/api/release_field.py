"""REST: a release as it is asked for."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from scheduler_core.releases import RELEASES, full_name
from scheduler_core.releases.choosing import AUTO

RELEASE_CHOICES: Final = (AUTO, *RELEASES)


class ReleaseField(serializers.ChoiceField):
    """A release by name; a minor release is its newest patch."""

    def to_internal_value(self, data: Any) -> str:
        name: str = super().to_internal_value(full_name(data) if isinstance(data, str) else data)
        return name
