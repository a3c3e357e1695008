"""What a run does not model, in words that can be translated.

A trace and a run's row hold the English; here it is read back into what it was made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from scheduler_core.wording import Text, say, series

_PLACE: Final = re.compile(r"\\\{(\w+)(:,)?\\\}")
_NUMBER: Final = r"[\d,]+"

_COUNTED: Final = (
    say("{n:,} {what}s", n=1, what=""),
    say("{n:,} {what}", n=1, what=""),
)
_NAMES: Final = (say("{names} and {more:,} more", names="", more=1),)
_OF_SLICES: Final = (
    say("attributes of devices that are lists"),
    say("nodeAllocatableResourceMappings of devices"),
    say("how long drivers take to meet binding conditions (none here)"),
)
_WORDS: Final = (say("pod"), say("object"), say("more object"))
_SENTENCES: Final = (
    say("scheduling groups (gangs) of {pods}: {names}", pods="", names=""),
    say("{what}, in {slices}: {names}", what="", slices="", names=""),
    say("the extender {url} was not called", url=""),
    say(
        "filterTimeout {timeout} of DynamicResources: the search for devices ends after so many "
        "candidates, whatever the time",
        timeout="",
    ),
    say(
        "CEL functions of device selectors: {functions}; such a selector ends in an error",
        functions="",
    ),
    say("{what} left out, as they cannot be read", what=""),
    say("{what} left out: {reason}", what="", reason=""),
)
_INSIDE: Final[dict[str, Sequence[Text]]] = {
    "pods": _COUNTED,
    "slices": _COUNTED,
    "what": (*_OF_SLICES, *_WORDS, *_COUNTED),
    "names": _NAMES,
}
"""What a value may be made of itself, by the name of its place."""


def not_modelled(texts: Iterable[str]) -> list[str]:
    """Return what is not modelled, each as a text with its values where it is a known one."""
    return [_read_back(text, _SENTENCES) or _kinds(text) for text in texts]


def _read_back(text: str, templates: Sequence[Text]) -> Text | None:
    for each in templates:
        if found := re.fullmatch(_PLACE.sub(_group, re.escape(each.template)), text):
            values = {name: _value(name, value) for name, value in found.groupdict().items()}
            return Text(each.template, values)
    return None


def _group(place: re.Match[str]) -> str:
    """Return the pattern of a place; one with commas in it is a number."""
    return f"(?P<{place[1]}>{_NUMBER if place[2] else '.+'})"


def _value(name: str, text: str) -> object:
    if name in ("n", "more"):
        return int(text.replace(",", ""))
    if inside := _read_back(text, _INSIDE.get(name, ())):
        return inside
    return _kinds(text) if name == "names" else text


def _kinds(text: str) -> str:
    """Return names, or counts of kinds, as the row that they are."""
    return series([_read_back(part, _COUNTED) or part for part in text.split(", ")])
