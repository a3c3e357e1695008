"""Affinity terms: those of the pod to place, and the distinct ones of all pods that are there.

Upstream: v1.36 kube-scheduler/framework/types.go (AffinityTerm) and
plugins/interpodaffinity/plugin.go.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from scheduler_core.api import Namespace
from scheduler_core.api.selectors import (
    label_selector_error,
    label_selector_is_empty,
    label_selector_matches,
)
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pod_selection import PodSelection, selector_key
from scheduler_core.cluster.pods import AffinityTerm, PodTemplate, TemplateTable

Labels = Mapping[str, str]


def term_error(term: AffinityTerm) -> str:
    """Return why the term is malformed, empty if it is not."""
    return label_selector_error(term.selector) or label_selector_error(term.namespace_selector)


def valid_terms(terms: Sequence[AffinityTerm]) -> Sequence[AffinityTerm]:
    """Return the terms, or none of them if one is malformed, as upstream's pod cache does."""
    return () if any(map(term_error, terms)) else terms


def term_matches(
    term: AffinityTerm, namespace: str, labels: Labels, namespace_labels: Labels
) -> bool:
    """Whether the term is about a pod of that namespace and those labels."""
    return (
        namespace in term.namespaces
        or label_selector_matches(term.namespace_selector, namespace_labels)
    ) and label_selector_matches(term.selector, labels)


# ---------------------------------------------------------------- the pod to place


@dataclass(frozen=True, eq=False)
class OwnTerm:
    """A term of the pod to place, its namespaces worked out; `weight` is below 0 for anti.

    `read_as_any`: its namespaceSelector would leave out namespaces, but is read as any.
    """

    topology_key: str
    selection: PodSelection
    weight: int
    read_as_any: bool = False


@dataclass(frozen=True, eq=False)
class Incoming:
    """The pod to place: its terms, and what the terms of others look at.

    `error` says which of its terms are malformed; there are no terms of that kind then.
    """

    namespace: str
    labels: Labels
    namespace_labels: Labels
    required_affinity: tuple[OwnTerm, ...]
    required_anti_affinity: tuple[OwnTerm, ...]
    preferred: tuple[OwnTerm, ...]
    error: str

    @cached_property
    def key(self) -> Hashable:
        """Stands for what terms of others look at."""
        return (
            self.namespace,
            tuple(sorted(self.labels.items())),
            tuple(sorted(self.namespace_labels.items())),
        )

    @property
    def restricts_nothing(self) -> bool:
        """Whether the pod itself has no required term."""
        return not self.required_affinity and not self.required_anti_affinity

    @cached_property
    def matches_own_affinity(self) -> bool:
        """Whether the pod meets all its own required affinity terms."""
        return all(
            term.selection.matches(self.namespace, self.labels) for term in self.required_affinity
        )

    def is_meant_by(self, term: AffinityTerm) -> bool:
        return term_matches(term, self.namespace, self.labels, self.namespace_labels)


def incoming(template: PodTemplate, objects: ObjectStore, *, apart: bool) -> Incoming:
    """Work out the terms of a pod to place against the namespaces there are.

    `apart`: a selector that an unlabelled namespace would match does not select every namespace.
    """
    near, far = template.required_affinity, template.required_anti_affinity
    liked, disliked = template.preferred_affinity, template.preferred_anti_affinity

    def own(terms: Sequence[AffinityTerm], sign: int = 1) -> tuple[OwnTerm, ...]:
        return tuple(_own(term, sign, objects, apart) for term in valid_terms(terms))

    return Incoming(
        namespace=template.namespace,
        labels=template.labels,
        namespace_labels=objects.namespace_labels(template.namespace),
        required_affinity=own(near),
        required_anti_affinity=own(far),
        preferred=(*own(liked), *own(disliked, -1)),
        error=_errors(
            {
                "requiredAffinityTerms": near,
                "requiredAntiAffinityTerms": far,
                "preferredAffinityTerms": liked,
                "preferredAntiAffinityTerms": disliked,
            }
        ),
    )


def _own(term: AffinityTerm, sign: int, objects: ObjectStore, apart: bool) -> OwnTerm:
    selection, selector = _selection(term, objects, apart), term.namespace_selector
    read_as_any = (
        selection.namespaces is None
        and selector is not None
        and not label_selector_is_empty(selector)
    )
    return OwnTerm(term.topology_key, selection, sign * term.weight, read_as_any)


def _selection(term: AffinityTerm, objects: ObjectStore, apart: bool) -> PodSelection:
    """Return the pods an incoming pod's term is about.

    Upstream adds the namespaces that match the selector now. Up to v1.36 it then still asks the
    selector, but about a namespace without labels: one that an unlabelled namespace would match (an
    empty selector does, one of only negative requirements too) means every namespace.
    """
    selector = term.namespace_selector
    means_all = selector is not None and label_selector_is_empty(selector)
    if means_all or (not apart and label_selector_matches(selector, {})):
        return PodSelection(term.selector, None)
    if term.namespace_selector is None:
        return PodSelection(term.selector, term.namespaces)
    selected = [
        namespace.name
        for namespace in objects.all(Namespace)
        if label_selector_matches(term.namespace_selector, namespace.metadata.labels)
    ]
    return PodSelection(term.selector, term.namespaces.union(selected))


def _errors(kinds: Mapping[str, Sequence[AffinityTerm]]) -> str:
    """Return upstream's aggregate of what is malformed, empty if nothing is."""
    errors = [
        f"{kind}: {error}"
        for kind, terms in kinds.items()
        for error in list(filter(None, map(term_error, terms)))[:1]
    ]
    return errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]" if errors else ""


# ---------------------------------------------------------------- the pods that are there


@dataclass(eq=False)
class ExistingTerm:
    """A distinct term; `templates` lists every template that has it, as often as it has it."""

    number: int
    term: AffinityTerm
    templates: array[int] = field(default_factory=lambda: array("q"))

    def weights(self, n_templates: int) -> IntArray:
        """Return how often each template has the term, int64 (n_templates,)."""
        return np.bincount(np.frombuffer(self.templates, np.int64), minlength=n_templates)


class TermTable:
    """The distinct terms of one kind over all templates: few, however many pods have them."""

    def __init__(
        self, table: TemplateTable, terms_of: Callable[[PodTemplate], Sequence[AffinityTerm]]
    ) -> None:
        self._table = table
        self._terms_of = terms_of
        self._n_templates = 0
        self._terms: list[ExistingTerm] = []
        self._by_key: dict[Hashable, ExistingTerm] = {}
        self._meant: dict[Hashable, tuple[int, list[ExistingTerm]]] = {}

    def about(self, pod: Incoming) -> list[ExistingTerm]:
        """Return the terms that mean the pod; each term is asked once per kind of pod."""
        self._take_in_new_templates()
        if not self._terms:
            return []
        n_known, meant = self._meant.get(pod.key, (0, []))
        if n_known < len(self._terms):
            meant.extend(each for each in self._terms[n_known:] if pod.is_meant_by(each.term))
            self._meant[pod.key] = len(self._terms), meant
        return meant

    def _take_in_new_templates(self) -> None:
        for template in self._table.templates[self._n_templates :]:
            if template.has_pod_terms:
                for term in self._terms_of(template):
                    self._number(term).templates.append(template.index)
        self._n_templates = len(self._table)

    def _number(self, term: AffinityTerm) -> ExistingTerm:
        key = (
            term.topology_key,
            term.weight,
            term.namespaces,
            selector_key(term.selector),
            selector_key(term.namespace_selector),
        )
        known = self._by_key.get(key)
        if known is None:
            known = self._by_key[key] = ExistingTerm(len(self._terms), term)
            self._terms.append(known)
        return known
