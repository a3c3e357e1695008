"""What people give kviz to keep, without its secrets: texts in YAML or JSON, and changes.

Objects lose theirs while they are parsed (ADR 0008). A scenario or a pasted manifest is kept as
text, which everyone who may read the run can read: values of environment variables, arguments, the
contents of Secrets, private keys and passwords in addresses are overwritten there, and nothing
else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from scheduler_core.config.source import MAX_BYTES
from scheduler_core.yaml_text import Node, trees

REMOVED: Final = "(removed)"
NO_KEY: Final = "KHJlbW92ZWQp"
"""The same where base64 is wanted."""
NO_KEYS: Final = (b"", REMOVED.encode())
"""What a configuration has in place of a private key."""
_HINT: Final = re.compile(r"env|args|command|Secret|keyData|urlPrefix|last-applied|[dD]ata")
_USER: Final = re.compile(r"(?<=://)[^/@\s]*@")
_ARGUMENTS: Final = ("args", "command")
_SECRET_DATA: Final = ("data", "stringData")
_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def without_user(url: str) -> str:
    """An address without the name and password in it."""
    return _USER.sub("", url)


def without_secrets(text: str) -> str:
    """A text in YAML or JSON with its secrets written over; as it is where it is neither.

    One that is longer than any that kviz reads is written over as a whole.
    """
    if not _HINT.search(text):
        return text
    if len(text) > MAX_BYTES:
        return REMOVED
    places: dict[int, tuple[int, str]] = {}
    for root in trees(text):
        for node, instead in _secrets(root, set()):
            start, end = node.start_mark.index, node.end_mark.index
            line_end = "\n" if text[start:end].endswith("\n") else ""
            places[start] = end, json.dumps(instead) + line_end
    kept, done = [], 0
    for start in sorted(places):
        end, instead = places[start]
        if start >= done:  # else it is within what was written over
            kept += [text[done:start], instead]
            done = end
    return "".join([*kept, text[done:]])


def _secrets(node: Node | None, seen: set[int]) -> Iterator[tuple[Node, str]]:
    """The scalars that are secrets, and what to write in their place."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if node.id == "sequence":
        for item in node.value:
            yield from _secrets(item, seen)
    elif node.id == "mapping":
        is_secret = any(
            value.id == "scalar" and (_name(key), value.value) == ("kind", "Secret")
            for key, value in node.value
        )
        for key, value in node.value:
            yield from _secrets_of_field(_name(key), value, is_secret)
            yield from _secrets(value, seen)


def _name(key: Node) -> str:
    """The name of a field; empty for a key that is no text, which no object has."""
    return str(key.value) if key.id == "scalar" else ""


def _secrets_of_field(name: str, value: Node, is_secret: bool) -> Iterator[tuple[Node, str]]:
    if name == "env" and value.id == "sequence":
        for item in value.value:
            if item.id == "mapping":
                yield from ((each, REMOVED) for key, each in item.value if key.value == "value")
    elif name in _ARGUMENTS and value.id == "sequence":
        yield from ((each, REMOVED) for each in value.value)
    elif is_secret and name in _SECRET_DATA and value.id == "mapping":
        yield from ((each, REMOVED) for _, each in value.value)
    elif name == "keyData":
        yield value, NO_KEY
    elif name == _APPLIED:
        yield value, REMOVED
    elif name == "urlPrefix" and value.id == "scalar" and "@" in value.value:
        yield value, without_user(value.value)


def plain_without_secrets(value: Any) -> Any:
    """The same of a value that was read, such as the document of a change."""
    if isinstance(value, list):
        return [plain_without_secrets(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _plain_field(name, field) for name, field in value.items()}


def _plain_field(name: str, value: Any) -> Any:
    if name == "env" and isinstance(value, list):
        return [
            {**item, "value": REMOVED} if isinstance(item, dict) and "value" in item else item
            for item in value
        ]
    if name in _ARGUMENTS and isinstance(value, list):
        return [REMOVED for _ in value]
    if name == _APPLIED and isinstance(value, str):
        return REMOVED
    if name == "config" and isinstance(value, str):
        return without_secrets(value)
    return plain_without_secrets(value)
