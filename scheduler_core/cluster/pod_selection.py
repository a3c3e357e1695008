"""Which pods a constraint or an affinity term is about, as masks over pod templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import msgspec

from scheduler_core.api import LabelSelector
from scheduler_core.api.selectors import label_selector_matches
from scheduler_core.cluster.pods import Mask, TemplateTable

_encode = msgspec.msgpack.Encoder(order="deterministic").encode


def selector_key(selector: LabelSelector | None) -> bytes:
    """Return a hashable stand-in for a selector: equal ones have equal keys."""
    return _encode(selector)


@dataclass(frozen=True, eq=False)
class PodSelection:
    """The pods that `selector` matches in `namespaces` (None: in every namespace).

    The selector must be valid; None selects nothing.
    """

    selector: LabelSelector | None
    namespaces: frozenset[str] | None

    @cached_property
    def key(self) -> tuple[bytes, frozenset[str] | None]:
        return selector_key(self.selector), self.namespaces

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        if self.namespaces is not None and namespace not in self.namespaces:
            return False
        return label_selector_matches(self.selector, labels)

    def templates(self, table: TemplateTable) -> Mask:
        """Return which templates' pods are selected, bool (n_templates,)."""
        return table.matching(
            self.key, lambda template: self.matches(template.namespace, template.labels)
        )
