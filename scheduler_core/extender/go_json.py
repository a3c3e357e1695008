"""JSON as Go's `encoding/json` reads it from a stream, with Go's words for what is wrong.

A `json.Decoder` takes the first value of the stream and never looks at what follows. Its error
texts end up in the PodScheduled condition, so they are the same to the letter.

Upstream: Go encoding/json (scanner.go, stream.go).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

import msgspec

Plain = object
"""What JSON yields: None, bool, int, Literal (other numbers), str, list or dict of such."""

MAX_DEPTH: Final = 10_000

_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_STRING_PART: Final = re.compile(rb'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LITERALS: Final = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}


class GoJSONError(ValueError):
    """The text is no JSON value, or not one of the expected shape."""


class EndOfStream(GoJSONError):
    """The text ends where more had to come."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number that is no plain integer, as it was written."""

    text: str


_decoder: Final = msgspec.json.Decoder(float_hook=Literal)


def decode_first(body: bytes) -> Plain:
    """Return the first value of `body`. Raises GoJSONError in Go's words."""
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        start, end = _Scanner(body).first_value()
    text = body[start:end].decode(errors="replace")
    try:
        return _decoder.decode(text)
    except RecursionError:
        raise GoJSONError("exceeded max depth") from None
    except msgspec.DecodeError as error:
        raise GoJSONError(str(error)) from None


class _Scanner:
    """Finds where the first value ends, or the first byte that cannot be."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def first_value(self) -> tuple[int, int]:
        self._skip_space()
        start = self._at
        if start == len(self._body):
            raise EndOfStream("EOF")
        closers: list[int] = []
        value_follows = True
        while value_follows or closers:
            value_follows = self._value(closers) if value_follows else self._after(closers)
        return start, self._at

    def _skip_space(self) -> None:
        found = _SPACE.match(self._body, self._at)
        assert found is not None
        self._at = found.end()

    def _peek(self) -> int:
        """Return the next byte that is no space. Raises EndOfStream."""
        self._skip_space()
        return self._byte()

    def _byte(self) -> int:
        if self._at >= len(self._body):
            raise EndOfStream("unexpected EOF")
        return self._body[self._at]

    def _value(self, closers: list[int]) -> bool:
        """Read a scalar, or the opening of a list or object; whether a value follows.

        `closers` are the brackets still to come, innermost last.
        """
        byte = self._peek()
        if byte == ord('"'):
            self._string()
        elif byte in _LITERALS:
            self._literal(_LITERALS[byte])
        elif byte == ord("-") or chr(byte).isdigit():
            self._number()
        elif byte in b"[{":
            return self._open(byte, closers)
        else:
            self._fail("looking for beginning of value")
        return False

    def _open(self, byte: int, closers: list[int]) -> bool:
        if len(closers) >= MAX_DEPTH:
            raise GoJSONError("exceeded max depth")
        self._at += 1
        closer = ord("]") if byte == ord("[") else ord("}")
        if self._peek() == closer:
            self._at += 1
            return False
        closers.append(closer)
        if closer == ord("}"):
            self._key()
        return True

    def _key(self) -> None:
        if self._peek() != ord('"'):
            self._fail("looking for beginning of object key string")
        self._string()
        if self._peek() != ord(":"):
            self._fail("after object key")
        self._at += 1

    def _after(self, closers: list[int]) -> bool:
        """Read what comes after a value in a list or object; return whether it is another value."""
        byte, in_object = self._peek(), closers[-1] == ord("}")
        self._at += 1
        if byte == closers[-1]:
            closers.pop()
            return False
        if byte != ord(","):
            self._at -= 1
            self._fail("after object key:value pair" if in_object else "after array element")
        if in_object:
            self._key()
        return True

    def _string(self) -> None:
        found = _STRING_PART.match(self._body, self._at + 1)
        assert found is not None
        self._at = found.end()
        byte = self._byte()
        if byte == ord('"'):
            self._at += 1
            return
        if byte != ord("\\"):
            self._fail("in string literal")
        self._at += 1
        if self._byte() != ord("u"):
            self._fail("in string escape code")
        self._at += 1
        while chr(self._byte()) in "0123456789abcdefABCDEF":
            self._at += 1
        self._fail("in \\u hexadecimal character escape")

    def _literal(self, word: bytes) -> None:
        for expected in word:
            if self._byte() != expected:
                quoted = _quote(expected)
                self._fail(f"in literal {word.decode()} (expecting {quoted})")
            self._at += 1

    def _number(self) -> None:
        found = _NUMBER.match(self._body, self._at)
        if found is None:
            self._at += 1
            self._byte()
            self._fail("in numeric literal")
        self._at = found.end()
        rest = self._body[self._at : self._at + 1]
        if rest == b"." and b"." not in found.group() and b"e" not in found.group().lower():
            self._at += 1
            self._byte()
            self._fail("after decimal point in numeric literal")
        if rest in (b"e", b"E") and b"e" not in found.group().lower():
            self._at += 1
            if self._byte() in b"+-":
                self._at += 1
            self._byte()
            self._fail("in exponent of numeric literal")

    def _fail(self, where: str) -> NoReturn:
        raise GoJSONError(f"invalid character {_quote(self._byte())} {where}")


def _quote(byte: int) -> str:
    """Return a byte between single quotes, as Go shows it in these errors."""
    char = chr(byte)
    escapes = {"'": "\\'", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    controls = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v"}
    if byte < 0x20 or byte == 0x7F:
        return f"'{ {**escapes, **controls}.get(char, f'{chr(92)}x{byte:02x}') }'"
    return f"'{escapes.get(char, char)}'"
