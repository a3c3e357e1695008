"""The line a field stands on, looked up only when there is something to report about it.

The parser that reads uploads is fast and knows no lines; another one finds them in the text of
the one object that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scheduler_core.yaml_text import Node, trees

MAX_CHARS: Final = 512 * 1024
"""Of an object's text; in a longer one nothing is looked up."""


def field_line(text: str, path: str) -> int | None:
    """The line, from 1, of the deepest part of a path such as `spec.containers[0].image`.

    `text` is one object, or the one item of a list. None where nothing can be found.
    """
    root = _root(text)
    if root is None:
        return None
    lines = list(_lines(root, path))
    return lines[-1] if lines else None


def _root(text: str) -> Node | None:
    if len(text) > MAX_CHARS:
        return None
    root = next(trees(text), None)
    if root is not None and root.id == "sequence" and len(root.value) == 1:
        item: Node = root.value[0]
        return item
    return root


def _lines(node: Node, path: str) -> Iterator[int]:
    """The line of each step of the path, for the steps that the text has."""
    while path:
        found = _step(node, path)
        if found is None:
            return
        line, node, path = found
        yield line


def _step(node: Node, path: str) -> tuple[int, Node, str] | None:
    """The next step's line and node, and the rest of the path. Keys may hold dots themselves."""
    if node.id == "sequence":
        for index, item in enumerate(node.value):
            rest = _after(path, f"[{index}]")
            if rest is not None:
                return item.start_mark.line + 1, item, rest
    if node.id == "mapping":
        for key, value in sorted(node.value, key=lambda pair: -len(str(pair[0].value))):
            for spelling in (str(key.value), f"[{key.value}]"):
                rest = _after(path, spelling)
                if rest is not None:
                    return key.start_mark.line + 1, value, rest
    return None


def _after(path: str, step: str) -> str | None:
    """What of the path follows a step, None if it does not begin with it."""
    rest = path.removeprefix(step)
    if rest == path or rest[:1] not in ("", ".", "["):
        return None
    return rest.removeprefix(".")
