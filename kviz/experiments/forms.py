"""What the forms of experiments accept, as REST would be given it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.http import QueryDict
from django.utils.translation import gettext as _

from kviz.experiments.kinds import Choice, kinds, refused

TEXTS: Final = ("snapshot", "run", "question", "name")


def start_values(given: QueryDict) -> dict[str, Any]:
    """What the form holds, after what an address or a sent form says."""
    return dict.fromkeys(TEXTS, "") | given.dict()


def choices() -> list[Choice]:
    """What the form offers, each once."""
    return list({each.choice.template: each.choice for each in kinds() if each.choice}.values())


def asked_of(given: QueryDict) -> tuple[str, Mapping[str, object]]:
    """The kind of the experiment and what is asked. Raises InvalidInput."""
    chosen = given.get("question", "")
    for kind in kinds():
        if kind.choice is not None and chosen in kind.choice.asked:
            return kind.name, kind.choice.asked[chosen](given)
    raise refused("question", _("Choose what you would like to know."))


def whole_number(field: str, text: str, default: int) -> int:
    """A number that was typed. Raises InvalidInput."""
    if not text.strip():
        return default
    if not text.strip().isdecimal():
        raise refused(field, _('"%s" is no whole number.') % text)
    return int(text)


def typed_at(values: Sequence[str], i: int) -> str:
    """What was typed in row i, empty behind the last."""
    return values[i] if i < len(values) else ""
