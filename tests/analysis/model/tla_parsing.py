"""Parses TLA+ with its tree-sitter grammar, which reads what the TLA+ tools read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from tree_sitter import Language, Node, Parser

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import tree_sitter_tlaplus

    LANGUAGE = Language(tree_sitter_tlaplus.language())


def problems_in(module: str) -> list[str]:
    """Return what the parser does not understand, by line; nothing of a good module."""
    tree = Parser(LANGUAGE).parse(module.encode())
    return [f"{node.start_point.row + 1}: {node.text!r}" for node in _broken(tree.root_node)]


def _broken(node: Node) -> Iterator[Node]:
    if node.is_error or node.is_missing:
        yield node
    for child in node.children:
        yield from _broken(child)
