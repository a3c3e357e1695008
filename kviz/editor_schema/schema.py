"""The form of a schema: small enough to be fetched by a page, JSON as it is read there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from scheduler_core.wording import Text

FieldType = Literal["string", "integer", "number", "boolean", "object", "any"]

Translate: TypeAlias = Callable[[Text], str]

MAX_DOC_CHARS: Final = 400


@dataclass(frozen=True)
class Field:
    """One field of an object.

    `of` names the type of an object's fields; with `is_list` and `is_map` it is that of the items.
    `values` are those that are known, which need not be all. `doc` is a `Text` where the words are
    kviz's own; upstream's stay English. `releases` names those that have the field, none where all
    have it.
    """

    type: FieldType
    of: str = ""
    is_list: bool = False
    is_map: bool = False
    values: tuple[str, ...] = ()
    default: str = ""
    doc: str = ""
    releases: tuple[str, ...] = ()

    def document(self, translate: Translate) -> dict[str, object]:
        """What there is to say, under short names."""
        doc = translate(self.doc) if isinstance(self.doc, Text) else self.doc
        found: dict[str, object] = {"type": self.type, "of": self.of, "doc": doc}
        found |= {"list": self.is_list, "map": self.is_map, "default": self.default}
        found |= {"values": list(self.values), "releases": list(self.releases)}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True)
class Schema:
    """`roots` names the type of a whole document by its kind; "" is a document of any kind."""

    roots: Mapping[str, str]
    types: dict[str, dict[str, Field]] = field(default_factory=dict)

    def document(self, translate: Translate = str) -> dict[str, object]:
        types = {
            name: {each: found.document(translate) for each, found in fields.items()}
            for name, fields in self.types.items()
        }
        return {"roots": dict(self.roots), "types": types}


def shortened(text: str) -> str:
    """Return whole sentences from the beginning, at least one, of about `MAX_DOC_CHARS`."""
    sentences = " ".join(text.split()).split(". ")
    shown = sentences[0]
    for sentence in sentences[1:]:
        if len(shown) + len(". ") + len(sentence) > MAX_DOC_CHARS:
            return f"{shown}."
        shown = f"{shown}. {sentence}"
    return shown
