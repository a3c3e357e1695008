"""What can be wrong with an input, and where.

``ParseError``        one problem of one object or file, with its place
``UnreadableError``   a file, archive entry or document that cannot be read at all
``LimitError``        a bound was hit: reading stops altogether

Only the first leaves this package. Reading a whole upload returns these as values.
"""

from typing import NamedTuple

import msgspec

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding JSON or MessagePack raises for bytes that anybody may have written."""


class Place(NamedTuple):
    """Where something stands.

    ``source`` is a file (``archive.zip!pods.yaml``), ``document`` the how-manieth object in it
    (from 1, items of a list counted one by one), ``line`` that of the field, or where the object
    starts, and ``subject`` its kind and name.
    """

    source: str = ""
    document: int | None = None
    line: int | None = None
    subject: str = ""

    def __str__(self) -> str:
        return self.source if self.document is None else f"{self.source}#{self.document}"


class ParseError(Exception):
    """Bad input, such as ``pods.yaml#12 spec.nodeName: must be text, not a list (Pod web-1)``."""

    def __init__(self, place: Place, field: str, message: str) -> None:
        super().__init__(place, field, message)
        self.place = place
        self.field = field
        self.message = message

    def __str__(self) -> str:
        where = " ".join(part for part in (str(self.place), self.field) if part)
        line = f"line {self.place.line}" if self.place.line is not None else ""
        details = ", ".join(part for part in (self.place.subject, line) if part)
        text = f"{where}: {self.message}" if where else self.message
        return f"{text} ({details})" if details else text


class FieldError(ValueError):
    """A field holds what it must not; the caller adds the place."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)
        self.field = field
        self.message = message


class UnreadableError(ValueError):
    """A file or document cannot be read; ``line`` and ``document`` say where, if known."""

    def __init__(self, message: str, line: int | None = None, document: int | None = None) -> None:
        super().__init__(message, line, document)
        self.message = message
        self.line = line
        self.document = document


class LimitError(UnreadableError):
    """The upload exceeds a bound; nothing more of it is read."""
