"""Objects out of JSON text: one, a list, a typed list, or several one after another."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from scheduler_core.api.errors import UnreadableError
from scheduler_core.api.parse import TOO_DEEP, TypeName
from scheduler_core.api.simulator import SECTIONS, is_export, opened
from scheduler_core.wording import say

_BYTE_OFFSET = re.compile(r"\(byte ([0-9]+)\)$")
_TRAILING = "trailing characters"
_LIST_SUFFIX = "List"

# `kubectl cluster-info dump` prints containers' logs between its JSON documents.
_LOG_START = b"==== START logs for container "
_LOG_END = b"==== END logs for container "
_MARK = b"---"
_SPACE = b" \t\r\n"
_ARRAY_START = ord("[")
_OBJECT_END = ord("}")
_COMMA = ord(",")


class CutOffError(UnreadableError):
    """The text ends in the middle of a JSON value."""


class JsonDocument(NamedTuple):
    """An object still as JSON text, with the name it goes by."""

    type_name: TypeName
    raw: msgspec.Raw


class _Head(msgspec.Struct, rename="camel"):
    api_version: str | None = None
    kind: str | None = None


class _Items(msgspec.Struct, rename="camel"):
    # Go prints an empty list as null; an object that is no list has no such field.
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET
    # What `kviz import --output` writes into the list: which API server it was read from.
    server_version: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_HEADS = msgspec.json.Decoder(_Head)
_LISTS = msgspec.json.Decoder(_Items)
_ARRAYS = msgspec.json.Decoder(list[msgspec.Raw])
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_OBJECTS = {"items", *SECTIONS}
_NULL = b"null"
_VALUES = msgspec.json.Decoder(msgspec.Raw)


def read_json(text: bytes | bytearray) -> Iterator[list[JsonDocument]]:
    """The objects of each JSON value in the text, lists opened.

    Raises :class:`UnreadableError` with the line and, inside a list, the how-manieth item; for
    text that is cut off after its whole objects.
    """
    view = memoryview(text)
    start = _skip(text, 0)
    number = 0
    while start < len(text):
        try:
            end = _value_end(view, start, text)
        except CutOffError:
            yield from _before_cut(view, start, text, number)
            raise
        try:
            if text[start] != _ARRAY_START:
                _refuse_repeated(view, start, text)
            documents = _documents(view[start:end], number)
        except RecursionError:
            raise UnreadableError(TOO_DEEP) from None
        number += len(documents)
        yield documents
        start = _skip(text, end)


def _value_end(view: memoryview, start: int, text: bytes | bytearray) -> int:
    """Where the JSON value that begins at ``start`` ends."""
    try:
        _VALUES.decode(view[start:])
    except msgspec.DecodeError as error:
        message = str(error)
        offset = _BYTE_OFFSET.search(message)
        if offset is None:
            last = text.rstrip().count(b"\n") + 1
            problem = say(
                "json.cut_off_in_line", "is cut off in line {line}: the rest is lost", line=last
            )
            raise CutOffError(problem, last) from None
        position = start + int(offset[1])
        if _TRAILING in message:
            # The decoder has read the first byte of what trails.
            return position - 1
        reason = message.removeprefix("JSON is malformed: ").removesuffix(f" {offset[0]}")
        line = text.count(b"\n", 0, position) + 1
        raise UnreadableError(
            say("json.not_json", "is not JSON: {reason}", reason=reason), line
        ) from None
    except RecursionError:
        raise UnreadableError(TOO_DEEP) from None
    return len(view)


def _before_cut(
    view: memoryview, start: int, text: bytes | bytearray, number: int
) -> Iterator[list[JsonDocument]]:
    """The whole items of a list that is cut off."""
    items: list[msgspec.Raw] = []
    try:
        position = start
        if text[start] != _ARRAY_START:
            position = next(at for at in _values(view, start, text) if text[at] == _ARRAY_START)
        position = _skip_space(text, position + 1)
        while True:
            end = _value_end(view, position, text)
            items.append(msgspec.Raw(view[position:end]))
            position = _skip_space(text, end)
            if text[position] != _COMMA:
                break
            position = _skip_space(text, position + 1)
    except (UnreadableError, IndexError, StopIteration):
        pass
    if items:
        yield _named(items, TypeName("", ""), number)


def _values(view: memoryview, start: int, text: bytes | bytearray) -> Iterator[int]:
    """Where the values of a mapping begin. Raises :class:`CutOffError` at the one cut off."""
    position = _skip_space(text, start + 1)
    while text[position] != _OBJECT_END:
        position = _skip_space(text, _value_end(view, position, text))
        position = _skip_space(text, position + 1)
        yield position
        position = _skip_space(text, _value_end(view, position, text))
        position = _skip_space(text, position + 1)


def _skip(text: bytes | bytearray, start: int) -> int:
    """Past white space, YAML's document marks and printed logs."""
    position = _skip_space(text, start)
    while text.startswith((_MARK, _LOG_START), position):
        is_log = text.startswith(_LOG_START, position)
        end = text.find(_LOG_END, position) if is_log else position
        newline = text.find(b"\n", end) if end >= 0 else -1
        position = _skip_space(text, newline) if newline >= 0 else len(text)
    return position


def _skip_space(text: bytes | bytearray, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _documents(value: memoryview, before: int) -> list[JsonDocument]:
    if value[0] == _ARRAY_START:
        return _named(_ARRAYS.decode(value), TypeName("", ""), before)
    name = _name(value, TypeName("", ""), before + 1)
    if name.kind.endswith(_LIST_SUFFIX):
        try:
            found = _LISTS.decode(value)
        except msgspec.ValidationError:
            found = _Items()
        if found.items is not msgspec.UNSET or name.kind == _LIST_SUFFIX:
            inherited = TypeName(name.api_version, name.kind.removesuffix(_LIST_SUFFIX))
            items = found.items if isinstance(found.items, list) else []
            return [*_named(items, inherited, before), *_server_of(found)]
    if not name.kind and not name.api_version:
        fields = _FIELDS.decode(value)
        if is_export(fields):
            return list(_exported(fields))
        if "items" in fields:
            return _named(_ARRAYS.decode(fields["items"]), TypeName("", ""), before)
    return [JsonDocument(name, msgspec.Raw(value))]


def _server_of(found: _Items) -> Iterator[JsonDocument]:
    """What a list says of its API server, as `kubectl version -o json` has it."""
    if isinstance(found.server_version, msgspec.Raw):
        said = b'{"serverVersion":%b}' % bytes(found.server_version)
        yield JsonDocument(TypeName("", ""), msgspec.Raw(said))


def _refuse_repeated(view: memoryview, start: int, text: bytes | bytearray) -> None:
    """Raises :class:`UnreadableError` if a list has its objects twice: one lot would be lost."""
    seen: set[str] = set()
    for key, position in _keys(view, start, text):
        if key in seen and key in _OBJECTS:
            line = text.count(b"\n", 0, position) + 1
            raise UnreadableError(
                say(
                    "json.field_twice_in_list",
                    'the field "{key}" stands twice in one list',
                    key=key,
                ),
                line,
            )
        seen.add(key)


def _keys(view: memoryview, start: int, text: bytes | bytearray) -> Iterator[tuple[str, int]]:
    """The keys of the mapping that begins at ``start``, and where; values are passed over.

    Raises :class:`UnreadableError` with the line of one that is no text.
    """
    position = _skip_space(text, start + 1)
    while text[position] != _OBJECT_END:
        end = _value_end(view, position, text)
        try:
            key = msgspec.json.decode(view[position:end], type=str)
        except UnicodeDecodeError:
            line = text.count(b"\n", 0, position) + 1
            raise UnreadableError(
                say("json.not_utf8", "holds text that is not UTF-8"), line
            ) from None
        yield key, position
        position = _skip_space(text, _skip_space(text, end) + 1)
        position = _skip_space(text, _value_end(view, position, text))
        if text[position] == _COMMA:
            position = _skip_space(text, position + 1)


def _exported(fields: dict[str, msgspec.Raw]) -> Iterator[JsonDocument]:
    """The objects of an export of kube-scheduler-simulator."""
    whole: dict[str, object] = dict(fields)
    for section in SECTIONS.keys() & fields.keys():
        if bytes(fields[section]) != _NULL:
            whole[section] = _ARRAYS.decode(fields[section])
    for name, raw in opened(whole):
        if isinstance(raw, msgspec.Raw) and bytes(raw) != _NULL:
            yield JsonDocument(name, raw)


def _named(items: list[msgspec.Raw], inherited: TypeName, before: int) -> list[JsonDocument]:
    """The items of a list; those of a typed list (``PodList``) need not say what they are."""
    return [
        JsonDocument(_name(raw, inherited, before + index), raw)
        for index, raw in enumerate(items, 1)
    ]


def _name(value: memoryview | msgspec.Raw, inherited: TypeName, number: int) -> TypeName:
    try:
        head = _HEADS.decode(value)
    except msgspec.ValidationError:
        problem = say("json.no_kind", "is not an object with apiVersion and kind as text")
        raise UnreadableError(problem, document=number) from None
    except UnicodeDecodeError:
        raise UnreadableError(
            say("json.not_utf8", "holds text that is not UTF-8"), document=number
        ) from None
    if inherited.kind:
        return TypeName(head.api_version or inherited.api_version, head.kind or inherited.kind)
    return TypeName(head.api_version or "", head.kind or "")
