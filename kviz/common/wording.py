"""What the engine says, in the reader's language.

The engine's texts are values (`scheduler_core/wording.py`); here, where they leave for a reader,
their templates are looked up by their ids in the catalogue `engine`.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar, cast

from django.utils.translation import get_language, pgettext
from rest_framework.renderers import JSONRenderer

from scheduler_core.wording import Text, filled

T = TypeVar("T")

_WIDE: Final = "[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
_BETWEEN: Final = re.compile(f"(?<={_WIDE}) (?={_WIDE})")
"""A space that stands between two Chinese characters, as it does beside a name."""


def translated(value: T) -> T:
    """Return a text, or all texts in a document, in the language that is active."""
    if (get_language() or "en").startswith("en"):
        return value if not isinstance(value, Text) else cast("T", str(value))
    found: T = _translated(value)
    return found


def without_gaps(text: str) -> str:
    """Return a text whose Chinese parts, put together, have no spaces between them."""
    return _BETWEEN.sub("", text)


def _translated(value: Any) -> Any:
    if isinstance(value, Text):
        text = filled(pgettext(value.id, value.template), _translated(value.values))
        return without_gaps(text)
    if isinstance(value, dict):
        return {name: _translated(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_translated, value))
    if isinstance(value, list):
        return [_translated(each) for each in value]
    return value


class TranslatingJSONRenderer(JSONRenderer):
    """JSON in which the engine's texts are in the reader's language."""

    def render(self, data: Any, *arguments: Any, **more: Any) -> Any:
        return super().render(translated(data), *arguments, **more)
