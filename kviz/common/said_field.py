"""Documents that are stored with the ids and values of the sentences in them."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression

from kviz.sentences import said
from scheduler_core.api.nul import without_nul
from scheduler_core.wording import packed


def _storable(value: Any) -> Any:
    """The value without NUL, which messages may quote."""
    match value:
        case str():
            return without_nul(value)
        case dict():
            return {_storable(key): _storable(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_storable(each) for each in value]
        case _:
            return value


class SaidField(models.JSONField):
    """JSON whose sentences are said in the reader's language when they are read."""

    def get_prep_value(self, value: Any) -> Any:
        return super().get_prep_value(_storable(packed(value)))

    def from_db_value(
        self, value: str | None, expression: Expression, connection: BaseDatabaseWrapper
    ) -> Any:
        return said(super().from_db_value(value, expression, connection))
