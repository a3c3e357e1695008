"""The text of a configuration: its value, and the lines its parts stand on.

The value comes from the same parsers as every other upload; lines are looked up separately, and
only when there is something to report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from scheduler_core.config.problems import ByName, ConfigError, Path, Problem
from scheduler_core.config.types import JsonValue
from scheduler_core.wording import say
from scheduler_core.yaml_text import Node, NotYaml, trees, values

MAX_BYTES: Final = 256 * 1024
"""Largest text that is read; configurations are a few kilobytes."""

_JSON_BYTE: Final = re.compile(r" \(byte (\d+)\)$")
_EXACT_FLOAT: Final = 1e21
"""From here on Go writes a float with an exponent, which no integer field reads."""


def text_value(text: str) -> JsonValue:
    """The one document in the text, None when there is none.

    Raises ConfigError: no YAML or JSON, too large, duplicate keys, several documents.
    """
    if len(text) > MAX_BYTES:
        raise ConfigError(
            [Problem((), say("config.too_large", "larger than {n} KiB", n=MAX_BYTES // 1024))]
        )
    try:
        return _json_value(text) if text.lstrip().startswith("{") else _yaml_value(text)
    except RecursionError:
        raise ConfigError([Problem((), say("config.too_deep", "nested too deeply"))]) from None
    except UnicodeEncodeError:
        raise ConfigError([Problem((), say("config.not_utf8", "not UTF-8 text"))]) from None


def located(problems: Iterable[Problem], text: str) -> list[Problem]:
    """The problems with the lines of their paths in the text, where these can be found."""
    root = _root(text)
    return [
        problem
        if problem.line is not None
        else msgspec.structs.replace(problem, line=_line(root, problem.path))
        for problem in problems
    ]


def _json_value(text: str) -> JsonValue:
    data = text.encode()
    try:
        value: JsonValue = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        byte = _JSON_BYTE.search(str(error))
        line = data[: int(byte[1])].count(b"\n") + 1 if byte else None
        raise ConfigError([Problem((), _JSON_BYTE.sub("", str(error)), line)]) from None
    # msgspec keeps the last of two equal keys, upstream refuses them.
    repeated: list[str] = []

    def check(pairs: list[tuple[str, JsonValue]]) -> None:
        if len(dict(pairs)) != len(pairs):
            repeated.extend(key for key, _ in pairs)

    json.loads(text, object_pairs_hook=check)
    if repeated:
        raise ConfigError(_duplicate_keys(text))
    return value


def _yaml_value(text: str) -> JsonValue:
    try:
        documents = values(text)
    except NotYaml as error:
        if "duplicate entry with key" in str(error):
            raise ConfigError(_duplicate_keys(text)) from None
        raise ConfigError([Problem((), f"yaml: {error}", error.line)]) from None
    given = [document for document in documents if document is not None]
    if len(given) > 1:
        text = say("config.one_document", "more than one document: give one configuration")
        raise ConfigError([Problem((), text)])
    return _as_json(given[0]) if given else None


def _as_json(value: object) -> JsonValue:
    """The value as the conversion of YAML to JSON leaves it: merged, with string keys."""
    if isinstance(value, dict):
        return _merged({_key(key): _as_json(item) for key, item in value.items()})
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_FLOAT:
        return int(value)
    return value if isinstance(value, bool | int | float | str) else None


def _key(key: object) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


def _merged(mapping: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Resolve YAML's merge key `<<`: own keys win, then earlier sources."""
    if "<<" not in mapping:
        return mapping
    given = mapping["<<"]
    merged: dict[str, JsonValue] = {}
    for source in reversed(given if isinstance(given, list) else [given]):
        if not isinstance(source, dict):
            return mapping
        merged.update(source)
    merged.update((key, value) for key, value in mapping.items() if key != "<<")
    return merged


def _root(text: str) -> Node | None:
    """The syntax tree of the first document, None if it cannot be read."""
    return next((node for node in trees(text) if node.id != "scalar" or node.value), None)


def _line(root: Node | None, path: Path) -> int | None:
    """The line of the deepest step of the path that stands in the text."""
    line, node = None, root
    for step in path:
        child = _child(node, step)
        if child is None:
            break
        line, node = child
    return line


def _child(node: Node | None, step: str | int) -> tuple[int, Node] | None:
    """The line at which a step starts, and what it leads to."""
    if node is not None and node.id == "mapping" and isinstance(step, str):
        for key, value in node.value:
            if key.value == step:
                return key.start_mark.line + 1, value
    if node is not None and node.id == "sequence":
        for index, item in enumerate(node.value):
            if index == step or (isinstance(step, ByName) and _has_name(item, step)):
                return item.start_mark.line + 1, item
    return None


def _has_name(item: Node, name: str) -> bool:
    child = _child(item, "name")
    return child is not None and child[1].value == name


def _duplicate_keys(text: str) -> list[Problem]:
    problems = list(_repeats(_root(text), (), set()))
    return problems or [Problem((), say("config.key_twice", "a key is given twice in one mapping"))]


def _repeats(node: Node | None, path: Path, seen: set[int]) -> Iterator[Problem]:
    """Every second key of a mapping; aliases lead to a node once only."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if node.id == "sequence":
        for index, item in enumerate(node.value):
            yield from _repeats(item, (*path, index), seen)
    elif node.id == "mapping":
        keys: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in keys:
                message = f'key "{name}" already set in map'
                yield Problem((*path, name), message, key.start_mark.line + 1)
            keys.add(name)
            yield from _repeats(value, (*path, name), seen)
