"""Paths to fields of objects: written, checked against the kind, read and set.

`spec.containers[0].resources.requests.cpu` goes through fields by name and through lists by index.
`[name=web]` is the element of that name, `[+]` a new one at the end. A key of a map follows a dot
if it is made of letters, digits and `_`, else it stands in brackets: `metadata.labels.app`,
`metadata.labels[topology.kubernetes.io/zone]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec
from msgspec import inspect

from scheduler_core.api import KubeObject
from scheduler_core.api.coerce import Plain, coerce_value, describe, fields_of, key_path
from scheduler_core.api.errors import FieldError
from scheduler_core.wording import say, series

Tree: TypeAlias = dict[str, Plain]

_SEGMENT: Final = re.compile(r"\[(?P<bracket>[^\]]+)\]|(?P<dot>\.?)(?P<name>[^.\[\]]+)")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an object, or a key of a map."""

    name: str

    def __str__(self) -> str:
        return key_path(self.name)


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a list by its index."""

    index: int

    def __str__(self) -> str:
        return f"[{self.index}]"


@dataclass(frozen=True, slots=True)
class Named:
    """The element of a list whose `name` that is."""

    name: str

    def __str__(self) -> str:
        return f"[name={self.name}]"


@dataclass(frozen=True, slots=True)
class Appended:
    """A new element at the end of a list."""

    def __str__(self) -> str:
        return "[+]"


Step: TypeAlias = Field | Element | Named | Appended


@dataclass(frozen=True)
class FieldPath:
    """A path that a kind has; `types` are those of what each step leads to."""

    steps: tuple[Step, ...]
    types: tuple[inspect.Type, ...]

    def __str__(self) -> str:
        return _text(self.steps)

    @property
    def declared(self) -> inspect.Type:
        """What stands there, with the notes of its type."""
        return self.types[-1]

    @property
    def type(self) -> inspect.Type:
        """What stands there."""
        return _plain_type(self.declared)

    @property
    def is_text(self) -> bool:
        """Whether text stands there, quantities and times among it."""
        return isinstance(self.type, inspect.StrType | inspect.CustomType)

    @property
    def adds(self) -> bool:
        """Whether setting it adds to a list."""
        return isinstance(self.steps[-1], Appended)


@lru_cache(maxsize=4096)
def field_path(text: str, kind: type[KubeObject]) -> FieldPath:
    """Read a path into objects of a kind. Raises FieldError, which names the part at fault."""
    steps: list[Step] = []
    types: list[inspect.Type] = []
    here = inspect.type_info(kind)
    for bracket, name in _segments(text):
        step, here = _step(bracket, name, here, _text(steps), kind)
        steps.append(step)
        types.append(here)
    return FieldPath(tuple(steps), tuple(types))


def _segments(text: str) -> list[tuple[str, str]]:
    """Cut a path: pairs of what stood in brackets and what followed a dot, one of them empty."""
    found: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        segment = _SEGMENT.match(text, position)
        misplaced = segment is None or (
            bool(segment["name"]) and bool(segment["dot"]) != bool(found)
        )
        if segment is None or misplaced:
            rest = text[position:]
            raise FieldError(
                text,
                say("path.not_understood", 'is no path: "{text}" is not understood', text=rest),
            )
        found.append((segment["bracket"] or "", segment["name"] or ""))
        position = segment.end()
    if not found:
        raise FieldError(text, say("path.no_path", "is no path: write for example spec.priority"))
    return found


def _step(
    bracket: str, name: str, of: inspect.Type, before: str, kind: type[KubeObject]
) -> tuple[Step, inspect.Type]:
    match _plain_type(of):
        case inspect.StructType(cls=cls) if name:
            fields = {field.name: field.type for field in fields_of(cls)}
            if name not in fields:
                at = f"{before}.{name}" if before else name
                raise FieldError(at, _unknown(name, list(fields), kind))
            return Field(name), fields[name]
        case inspect.DictType(value_type=value_type):
            return Field(name or bracket), value_type
        case inspect.VarTupleType(item_type=item_type) if bracket:
            return _element(bracket, before), item_type
        case inspect.VarTupleType():
            text = say(
                "path.is_list",
                "is a list: write {field}[0], {field}[name=...] or {field}[+]",
                field=before,
            )
        case inspect.StructType():
            text = say(
                "path.is_object", "is an object: write .{name} for a field of it", name=bracket
            )
        case _ if name:
            text = say(
                "path.no_name_brackets",
                'has no "{name}" below it; a key with dots or slashes stands in brackets, as '
                "[example.com/gpu]",
                name=name,
            )
        case _:
            text = say("path.no_name", 'has no "{name}" below it', name=bracket)
    raise FieldError(before, text)


def _element(bracket: str, before: str) -> Step:
    if bracket == "+":
        return Appended()
    if bracket.isdecimal():
        return Element(int(bracket))
    head, equals, name = bracket.partition("=")
    if head == "name" and equals and name:
        return Named(name)
    text = say(
        "path.no_element", "[{text}] is no element: write [0], [name=...] or [+]", text=bracket
    )
    raise FieldError(before, text)


def _plain_type(wanted: inspect.Type) -> inspect.Type:
    """Return a type without what may surround it: None as an alternative, notes about it."""
    match wanted:
        case inspect.Metadata(type=inner):
            return _plain_type(inner)
        case inspect.UnionType(types=types):
            choices = [each for each in types if not isinstance(each, inspect.NoneType)]
            return _plain_type(choices[0]) if len(choices) == 1 else wanted
        case _:
            return wanted


def _unknown(name: str, fields: list[str], kind: type[KubeObject]) -> str:
    close = get_close_matches(name, fields, n=1)
    if close:
        return say(
            "path.kind_field_near",
            "is no field that is read of a {kind}, did you mean {name}?",
            kind=kind.kind,
            name=close[0],
        )
    return say(
        "path.kind_field_known",
        "is no field that is read of a {kind}; known here: {names}",
        kind=kind.kind,
        names=series(fields),
    )


def _text(steps: list[Step] | tuple[Step, ...]) -> str:
    return "".join(map(str, steps)).removeprefix(".")


# ---------------------------------------------------------------- values


def check_value(value: Plain, path: FieldPath) -> Plain:
    """Return a value as a change carries it: text where text stands, else what was given.

    Raises FieldError if the field cannot hold it, also for a field unknown in it.
    """
    _refuse_unknown(value, path.type, str(path))
    coerced = coerce_value(value, path.declared, str(path))
    return coerced if isinstance(path.type, inspect.StrType) else value


def _refuse_unknown(value: Plain, wanted: inspect.Type, at: str) -> None:
    match _plain_type(wanted):
        case inspect.StructType(cls=cls) if isinstance(value, dict):
            fields = {field.name: field.type for field in fields_of(cls)}
            for name, item in value.items():
                if name not in fields:
                    raise FieldError(f"{at}.{name}", _unread(str(name), list(fields)))
                _refuse_unknown(item, fields[name], f"{at}.{name}")
        case inspect.VarTupleType(item_type=item_type) if isinstance(value, list):
            for i, item in enumerate(value):
                _refuse_unknown(item, item_type, f"{at}[{i}]")
        case _:
            return


def _unread(name: str, fields: list[str]) -> str:
    close = get_close_matches(name, fields, n=1)
    if close:
        return say(
            "path.field_near", "is no field that is read, did you mean {name}?", name=close[0]
        )
    return say("path.no_field", "is no field that is read")


def unknown_field(name: str, known: Sequence[str]) -> str:
    """Say of a field that it is none of those that may stand there."""
    close = get_close_matches(name, known, n=1)
    if not close:
        return say("path.unknown", 'unknown field "{name}"', name=name)
    return say(
        "path.unknown_near",
        'unknown field "{name}", did you mean "{near}"?',
        name=name,
        near=close[0],
    )


def value_at(tree: Tree, path: FieldPath) -> Plain:
    """Return what stands there, None if nothing does."""
    here: Plain = tree
    for step in path.steps:
        match step:
            case Field(name) if isinstance(here, dict):
                here = here.get(name)
            case Element(index) if isinstance(here, list | tuple) and index < len(here):
                here = here[index]
            case Named(name) if isinstance(here, list | tuple):
                here = next((each for each in here if _has_name(each, name)), None)
            case _:
                return None
    return here


def set_value(tree: Tree, path: FieldPath, value: Plain) -> None:
    """Put a value there, None to take away what is there.

    Objects and lists on the way are made where a value needs them. Raises FieldError for an
    element that is not there, and where there is nothing to take away.
    """
    here: Plain = tree
    value = None if value is None else coerce_value(value, path.declared, str(path))
    for i, step in enumerate(path.steps[:-1]):
        is_list = isinstance(_plain_type(path.types[i]), inspect.VarTupleType)
        made: Plain = [] if is_list else {}
        here = _child(here, step, made, path.steps[:i], removes=value is None)
    _finish(here, path, value)


def _child(
    here: Plain, step: Step, made: Plain, before: tuple[Step, ...], *, removes: bool
) -> Plain:
    if isinstance(here, dict):
        assert isinstance(step, Field)
        if step.name not in here:
            if removes:
                raise FieldError(_text((*before, step)), say("path.absent", "is not there"))
            here[step.name] = made
        return _editable(here, step.name)
    assert isinstance(here, list)
    if isinstance(step, Appended):
        here.append(made)
        return made
    return _editable(here, _index(here, step, before))


def _editable(holder: Plain, at: str | int) -> Plain:
    """Return a child that may be changed: a list where there was a tuple."""
    assert isinstance(holder, dict | list)
    child: Plain = holder[at]  # type: ignore[index]
    if isinstance(child, tuple):
        child = list(child)
        holder[at] = child  # type: ignore[index]
    return child


def _index(here: list[Plain], step: Step, before: tuple[Step, ...]) -> int:
    match step:
        case Element(index) if index < len(here):
            return index
        case Named(name):
            for index, each in enumerate(here):
                if _has_name(each, name):
                    return index
    raise FieldError(_text((*before, step)), _others(here))


def _others(here: list[Plain]) -> str:
    """Say of a list that it lacks an element, and which ones it has."""
    names = [str(each["name"]) for each in here if isinstance(each, dict) and each.get("name")]
    n = len(here)
    if not n:
        return say("path.list_empty", "is not there; the list is empty")
    if len(names) < n:
        return say("path.list_has", "is not there; there are {n}", n=n)
    return say(
        "path.list_has_names", "is not there; there are {n}: {names}", n=n, names=series(names)
    )


def _finish(here: Plain, path: FieldPath, value: Plain) -> None:
    step, before = path.steps[-1], path.steps[:-1]
    if isinstance(here, dict):
        assert isinstance(step, Field)
        if value is not None:
            here[step.name] = value
        elif here.pop(step.name, None) is None:
            raise FieldError(str(path), say("path.absent", "is not there"))
        return
    assert isinstance(here, list)
    if isinstance(step, Appended):
        if value is None:
            raise FieldError(str(path), say("path.null_added", "null adds nothing to a list"))
        here.append(value)
        return
    index = _index(here, step, before)
    if value is None:
        del here[index]
    else:
        here[index] = value


def _has_name(item: Plain, name: str) -> bool:
    return isinstance(item, dict) and item.get("name") == name


def value_of_text(text: str, path: FieldPath) -> Plain:
    """Read what follows `PATH=` on a line. Raises FieldError.

    `null` takes the field away. A field that holds text takes it as it stands; where it begins
    with a quotation mark it is JSON. Everything else is JSON.
    """
    if text == "null":
        return None
    if path.is_text and not text.startswith('"'):
        return check_value(text, path)
    try:
        value: Plain = msgspec.json.decode(text)
    except msgspec.DecodeError:
        what = describe(text)
        problem = say("path.no_text", "{what} is no text", what=what)
        if not path.is_text:
            problem = say("path.no_json", "{what} is no JSON", what=what)
        raise FieldError(str(path), problem) from None
    return check_value(value, path)


def text_of_value(value: Plain, path: FieldPath) -> str:
    """Return a value as it follows `PATH=` on a line."""
    if value is None:
        return "null"
    if path.is_text and isinstance(value, str):
        is_plain = value == value.strip() and value.isprintable()
        if is_plain and value != "null" and not value.startswith('"'):
            return value
    return msgspec.json.encode(value).decode()
