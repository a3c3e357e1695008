"""Answers cut to what one reads at once, and the rest of them on request.

What a cluster's files say (names, labels, annotations, messages) is text of unknown authors. It is
passed on as data: in JSON, with everything escaped that is not visible, and with long texts cut.
"""

from __future__ import annotations

import unicodedata
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, TypeGuard

SHOWN: Final = 10
"""Entries of a list in an answer; `more` has the rest."""
MORE: Final = 50
"""Entries that `more` gives at a time."""
MAX_TEXT: Final = 600
"""Characters of one text."""
MAX_DEPTH: Final = 12
KEPT: Final = 32
"""Answers that can still be asked about."""

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None


class NotThere(LookupError):
    """There is no such answer, or no such part of it; the text says so."""


class Answers:
    """The latest answers by id, for parts of them to be read later."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Json] = OrderedDict()
        self._n_given = 0

    def give(self, document: Json) -> dict[str, Json]:
        """Keep an answer, and return the short form of it with its id."""
        self._n_given += 1
        answer = f"a{self._n_given}"
        self._kept[answer] = document
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return {"answer_id": answer, "answer": shortened(document)}

    def more(self, answer: str, path: str, after: int) -> dict[str, Json]:
        """Return a part of an answer: of a list or an object, the entries after so many.

        `path` has the keys on the way, parted by slashes. Raises NotThere.
        """
        if answer not in self._kept:
            known = ", ".join(self._kept) or "none yet"
            raise NotThere(f"There is no answer {answer!r} any more; there are: {known}.")
        part = _part(self._kept[answer], path)
        if isinstance(part, Mapping):
            keys = list(part)[after : after + MORE]
            entries: Json = {visible(key): shortened(part[key], 1) for key in keys}
            return {"of": len(part), "after": after, "entries": entries}
        if _is_list(part):
            shown = [shortened(each, 1) for each in part[after : after + MORE]]
            return {"of": len(part), "after": after, "entries": shown}
        if isinstance(part, str):
            text = visible(part[after : after + 10 * MAX_TEXT])
            return {"of": len(part), "after": after, "text": text}
        return {"value": part}


def shortened(document: Json, depth: int = 0) -> Json:
    """Return a document with long lists and texts cut, each saying how much there is."""
    if isinstance(document, str):
        cut = document[:MAX_TEXT]
        return visible(cut) + (f"… ({len(document):,} characters)" if cut != document else "")
    if depth >= MAX_DEPTH and isinstance(document, Mapping | Sequence):
        return {"shown": 0, "of": len(document)}
    if isinstance(document, Mapping):
        keys = list(document)
        # The fields of an answer are all shown; what else has many entries is a table by name.
        shown = keys if depth == 0 or len(keys) <= 2 * SHOWN else keys[:SHOWN]
        found = {visible(key): shortened(document[key], depth + 1) for key in shown}
        return found if len(shown) == len(keys) else {"shown": len(shown), "of": len(keys)} | found
    if _is_list(document):
        short = [shortened(each, depth + 1) for each in document[:SHOWN]]
        if len(document) > SHOWN:
            return {"shown": SHOWN, "of": len(document), "entries": short}
        return short
    return document


def visible(text: str) -> str:
    """Return a text in which everything that is not seen is escaped: controls, marks of direction.

    So nothing hides in a name, and nothing changes how what follows is shown.
    """
    return "".join(
        char if char == "\n" or not unicodedata.category(char).startswith("C") else _escaped(char)
        for char in text
    )


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def _is_list(document: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(document, Sequence) and not isinstance(document, str)


def _part(document: Json, path: str) -> Json:
    part = document
    for key in filter(None, path.split("/")):
        if isinstance(part, Mapping) and key in part:
            part = part[key]
        elif _is_list(part) and key.isdecimal() and int(key) < len(part):
            part = part[int(key)]
        else:
            there = ", ".join(map(visible, list(part)[:20])) if isinstance(part, Mapping) else ""
            raise NotThere(f"There is no {visible(key)!r} at that place; there are: {there}.")
    return part
