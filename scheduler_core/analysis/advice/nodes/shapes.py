"""Shapes of nodes and prices, read from a file.

shapes:
- {name: big, allocatable: {cpu: "16", memory: 64Gi}, price: 0.5, atMost: 10}
pools:
- {name: general/m5.2xlarge, price: 0.38}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from scheduler_core.analysis.advice.nodes.offers import Terms
from scheduler_core.api import Node
from scheduler_core.api.errors import ParseError, Place
from scheduler_core.api.parse import parse_object
from scheduler_core.changes.node_changes import HOSTNAME
from scheduler_core.config import ConfigError, located
from scheduler_core.config.problems import Path, Problem
from scheduler_core.config.source import text_value
from scheduler_core.config.types import JsonValue

DEFAULT_PODS: Final = "110"
"""How many pods a shape takes that does not say so: a kubelet's default."""
FIELDS: Final = {
    "shapes": ("name", "allocatable", "labels", "taints", "price", "atMost"),
    "pools": ("name", "price", "atMost"),
}


@dataclass(frozen=True)
class Shapes:
    """Shapes typed in, as nodes, and what nodes of the pools that are there cost."""

    shapes: tuple[tuple[Node, Terms], ...] = ()
    pools: Mapping[str, Terms] = field(default_factory=dict)


def load_shapes(text: str) -> Shapes:
    """Read shapes from YAML or JSON text. Raises ConfigError."""
    try:
        return _Reader().shapes(text_value(text))
    except ConfigError as error:
        raise ConfigError(located(error.problems, text)) from None


class _Reader:
    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def shapes(self, value: JsonValue) -> Shapes:
        if not isinstance(value, dict):
            raise ConfigError([Problem((), "expected a mapping with shapes, pools, or both")])
        for name in value.keys() - FIELDS.keys():
            self._problems.append(Problem((name,), "unknown field; known are shapes and pools"))
        pools = {
            str(each["name"]): self._terms(path, each) for path, each in self._items(value, "pools")
        }
        shapes = [
            (node, self._terms(path, each))
            for path, each in self._items(value, "shapes")
            if (node := self._node(path, each)) is not None
        ]
        if self._problems:
            raise ConfigError(self._problems)
        return Shapes(tuple(shapes), pools)

    def _items(
        self, value: dict[str, JsonValue], name: str
    ) -> list[tuple[Path, dict[str, JsonValue]]]:
        """Return the named entries of a list; those that are none become problems."""
        items = value.get(name) or []
        if not isinstance(items, list):
            self._problems.append(Problem((name,), "expected a list"))
            return []
        found: list[tuple[Path, dict[str, JsonValue]]] = []
        for i, each in enumerate(items):
            path = (name, i)
            if not isinstance(each, dict) or not isinstance(each.get("name"), str):
                self._problems.append(Problem(path, "expected a mapping with a name"))
                continue
            for field_name in each.keys() - set(FIELDS[name]):
                text = f"unknown field; known are {', '.join(FIELDS[name])}"
                self._problems.append(Problem((*path, field_name), text))
            found.append((path, each))
        return found

    def _terms(self, path: Path, value: Mapping[str, JsonValue]) -> Terms:
        price, at_most = value.get("price"), value.get("atMost")
        fraction = None
        if isinstance(price, int | float) and not isinstance(price, bool) and price >= 0:
            fraction = Fraction(str(price))
        elif price is not None:
            self._problems.append(Problem((*path, "price"), "expected a number, 0 or more"))
        if at_most is not None and (not isinstance(at_most, int) or at_most < 1):
            self._problems.append(Problem((*path, "atMost"), "expected a whole number, 1 or more"))
            at_most = None
        return Terms(fraction, at_most)

    def _node(self, path: Path, value: Mapping[str, JsonValue]) -> Node | None:
        """Read a shape as the node that it stands for."""
        allocatable, labels = value.get("allocatable"), value.get("labels") or {}
        if not isinstance(allocatable, dict) or not isinstance(labels, dict):
            self._problems.append(Problem((*path, "allocatable"), "expected resources and amounts"))
            return None
        raw = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": value["name"], "labels": {HOSTNAME: value["name"], **labels}},
            "spec": {"taints": value.get("taints") or []},
            "status": {"allocatable": {"pods": DEFAULT_PODS, **allocatable}},
        }
        try:
            node = parse_object(raw, Place("shapes"))
        except ParseError as error:
            self._problems.append(Problem(path, f"{error.field}: {error.message}"))
            return None
        assert isinstance(node, Node)
        return node
