"""The character NUL, which no text of a cluster may hold: PostgreSQL stores none.

What is dropped while parsing may hold it: a dump prints whatever somebody typed.
"""

from collections.abc import Iterator

import msgspec

from scheduler_core.api.coerce import Plain, key_path
from scheduler_core.api.errors import FieldError
from scheduler_core.api.meta import KubeObject
from scheduler_core.wording import say

NUL = "\0"
NUL_IN_JSON = b"\\u0000"
"""How it stands in JSON; a backslash that is meant as one may stand before it."""
SHOWN_INSTEAD = "\N{REPLACEMENT CHARACTER}"

_ENCODER = msgspec.json.Encoder()


def refuse_nul(item: KubeObject) -> None:
    """Raises :class:`FieldError` for the first field of an object that holds a NUL."""
    if NUL_IN_JSON not in _ENCODER.encode(item):
        return
    for path in _paths_with_nul(msgspec.to_builtins(item), ""):
        raise FieldError(path, say("field.nul", "may not contain the character NUL"))


def without_nul(text: str) -> str:
    """The text as it can be stored and shown."""
    return text.replace(NUL, SHOWN_INSTEAD)


def _paths_with_nul(value: Plain, path: str) -> Iterator[str]:
    match value:
        case str():
            if NUL in value:
                yield path
        case dict():
            for key, inner in value.items():
                at = without_nul(f"{path}{key_path(key)}").removeprefix(".")
                yield from _paths_with_nul(key, at)
                yield from _paths_with_nul(inner, at)
        case list():
            for index, inner in enumerate(value):
                yield from _paths_with_nul(inner, f"{path}[{index}]")
        case _:
            return
