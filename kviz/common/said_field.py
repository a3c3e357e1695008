"""Documents that are stored with the ids and values of the sentences in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Expression

from kviz.sentences import said
from scheduler_core.api.nul import without_nul
from scheduler_core.wording import Text, packed


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


if TYPE_CHECKING:
    _TextField = models.TextField[str, str]
else:
    _TextField = models.TextField


class SaidTextField(_TextField):
    """A text; a sentence is stored by its id and values, another text as it is."""

    def get_prep_value(self, value: Any) -> Any:
        if isinstance(value, Text):
            return json.dumps(_storable(packed(value)), ensure_ascii=False)
        return super().get_prep_value(value)

    def from_db_value(
        self, value: str | None, expression: Expression, connection: BaseDatabaseWrapper
    ) -> str | None:
        if value is None or not value.startswith("{"):
            return value
        try:
            found = said(json.loads(value))
        except ValueError:
            return value
        return found if isinstance(found, str) else value
