"""Node names, node selectors, node affinity and declared features.

Upstream: v1.36 plugins/nodename, plugins/nodeaffinity and plugins/nodedeclaredfeatures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from msgspec.structs import replace

from scheduler_core.api import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodSpec,
    PreferredSchedulingTerm,
)
from scheduler_core.api.selectors import (
    METADATA_NAME,
    field_requirement_matches,
    node_term_errors,
    requirement_matches,
)
from scheduler_core.evidence.raw_score import RawScore
from scheduler_core.evidence.requirement import (
    AtNode,
    Parts,
    Requirement,
    label_text,
    short_key,
    state_of,
)
from scheduler_core.plugins.node_affinity import NodeAffinity, preferred_terms, required_terms
from scheduler_core.wording import AND, OR, PLUS, SEMICOLON, say, series

OS: Final = "kubernetes.io/os"
USUAL_OS: Final = "linux"
"""What images are built for unless their pod says otherwise."""

Source = Literal["pod", "scheduler"]
"""The source: the pod itself, or `addedAffinity` of the scheduler's configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNamed(Requirement):
    """The one node that a pod names in `spec.nodeName`."""

    kind = "nodeName"
    name: str
    node: str

    @property
    def asks(self) -> str:
        return say("labels.the_node", "node {name}", name=self.name)

    @property
    def has(self) -> str:
        return self.node

    @property
    def sentence(self) -> str:
        return say(
            "labels.names_other",
            "names node {name} itself, this one is {node}",
            name=self.name,
            node=self.node,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectorLabel(Requirement):
    """One label of `spec.nodeSelector`; `actual` is None where the node lacks it."""

    kind = "nodeSelector"
    key: str
    value: str
    actual: str | None

    @property
    def asks(self) -> str:
        return f"{self.key}={self.value}"

    @property
    def has(self) -> str:
        return label_text(self.key, self.actual)

    @property
    def sentence(self) -> str:
        return say(
            "labels.selects",
            "selects nodes with {asks}, the node has {has}",
            asks=self.asks,
            has=self.has,
        )

    @property
    def asks_parts(self) -> Parts:
        return ((f"{self.key}=", False), (self.value, not self.met))

    @property
    def has_parts(self) -> Parts:
        if self.actual is None:
            return ((self.has, not self.met),)
        return ((f"{self.key}=", False), (self.actual, not self.met))


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression of a term. `field` says that it asks for a field, not for a label."""

    key: str
    operator: str
    values: tuple[str, ...]
    field: bool
    actual: str | None
    met: bool

    @property
    def asks(self) -> str:
        return expression_text(self.key, self.operator, self.values)

    @property
    def has(self) -> str:
        return label_text(self.key, self.actual)

    @property
    def short_asks(self) -> str:
        return expression_text(short_key(self.key), self.operator, self.values)

    @property
    def short_has(self) -> str:
        return label_text(short_key(self.key), self.actual)


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a node affinity: all its expressions must hold, and there must be one.

    `errors` are what is malformed; such a term selects nothing.
    """

    expressions: tuple[Expression, ...]
    errors: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        wanted = self.expressions
        return bool(wanted) and not self.errors and all(each.met for each in wanted)

    @property
    def asks(self) -> str:
        return series((each.asks for each in self.expressions), AND) or say(
            "labels.empty_term", "nothing, as it is empty"
        )

    @property
    def missed(self) -> tuple[Expression, ...]:
        return tuple(each for each in self.expressions if not each.met)


MAX_TERMS: Final = 3
"""So many terms of a selector are told in a headline, those that miss the fewest expressions."""


def missed_asks(terms: Sequence[Term]) -> str:
    """Return in short what each of the nearest terms misses, any of which would do."""
    nearest = _nearest(terms)
    asks = [series((each.short_asks for each in term.missed), AND) for term in nearest[:MAX_TERMS]]
    text = series(dict.fromkeys(asks), OR)
    n_more = len(nearest) - MAX_TERMS
    if n_more <= 0:
        return text
    return say("labels.more_terms", "{terms} (or {n} more)", terms=text, n=n_more)


def missed_has(terms: Sequence[Term]) -> str:
    """Return in short what the node has of that."""
    missed = (each.short_has for term in _nearest(terms)[:MAX_TERMS] for each in term.missed)
    return series(dict.fromkeys(missed))


def _nearest(terms: Sequence[Term]) -> list[Term]:
    """Return the terms that miss something, those with the fewest such expressions first."""
    able = (term for term in terms if term.missed and not term.errors)
    return sorted(able, key=lambda term: len(term.missed))


@dataclass(frozen=True, slots=True, kw_only=True)
class AffinityTerms(Requirement):
    """A required node affinity: one of its terms must hold."""

    kind = "nodeAffinity"
    source: Source
    terms: tuple[Term, ...]

    @property
    def asks(self) -> str:
        return series((term.asks for term in self.terms), OR) or say(
            "labels.no_term", "one of no terms"
        )

    @property
    def has(self) -> str:
        term = self._nearest
        if term is None:
            return say("labels.unmatchable", "nothing that could match")
        if term.errors:
            return say(
                "labels.invalid",
                "nothing to compare: {errors}",
                errors=series(term.errors, SEMICOLON),
            )
        shown = term.expressions if self.met else term.missed
        return series(dict.fromkeys(each.has for each in shown)) or say(
            "labels.unmatchable", "nothing that could match"
        )

    @property
    def sentence(self) -> str:
        if self.source == "scheduler":
            return say(
                "labels.configuration_requires",
                "is kept to {asks} by the scheduler's configuration, the node has {has}",
                asks=self.asks,
                has=self.has,
            )
        return say(
            "labels.requires", "requires {asks}, the node has {has}", asks=self.asks, has=self.has
        )

    @property
    def headline(self) -> str:
        asks = missed_asks(self.terms)
        if self.met or self.source == "scheduler" or not asks:
            return self.sentence
        has = missed_has(self.terms)
        return say("labels.requires", "requires {asks}, the node has {has}", asks=asks, has=has)

    @property
    def _nearest(self) -> Term | None:
        """Return the term that misses the fewest expressions."""
        usable = sorted(self.terms, key=lambda term: (bool(term.errors), len(term.missed)))
        return usable[0] if usable else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureDeclared(Requirement):
    """A feature of the kubelet that the pod cannot do without."""

    kind = "declaredFeature"
    feature: str
    declared: tuple[str, ...]

    @property
    def asks(self) -> str:
        return say("labels.feature", "the kubelet feature {feature}", feature=self.feature)

    @property
    def has(self) -> str:
        return (
            say("labels.declares", "declares {declared}", declared=series(self.declared))
            if self.declared
            else say("labels.declares_none", "declares no feature")
        )

    @property
    def sentence(self) -> str:
        return say(
            "labels.needs_feature", "needs {asks}, the node {has}", asks=self.asks, has=self.has
        )


def node_named(at: AtNode) -> Iterator[NodeNamed]:
    name = at.pod.node_name
    if name:
        yield NodeNamed(met=name == at.node_name, name=name, node=at.node_name)


def node_affinity(plugin: NodeAffinity, at: AtNode) -> Iterator[SelectorLabel | AffinityTerms]:
    """Yield what the configuration adds, the labels of the selector, and the required affinity."""
    if plugin.added is not None:
        yield _affinity_terms("scheduler", plugin.added, at)
    spec = at.pod.pod.spec
    for key, value in spec.node_selector.items():
        actual = at.label(key)
        yield SelectorLabel(met=actual == value, key=key, value=value, actual=actual)
    required = required_terms(spec)
    if required is not None:
        yield _affinity_terms("pod", required, at)


def declared_features(state: object, at: AtNode) -> Iterator[FeatureDeclared]:
    declared = tuple(at.node.node(0).status.declared_features)
    for feature in sorted(state_of(frozenset, state)):
        yield FeatureDeclared(met=feature in declared, feature=feature, declared=declared)


def _affinity_terms(source: Source, selector: NodeSelector, at: AtNode) -> AffinityTerms:
    terms = tuple(_term(term, at) for term in selector.node_selector_terms)
    return AffinityTerms(met=any(term.met for term in terms), source=source, terms=terms)


def label_terms(selector: NodeSelector | None, at: AtNode) -> tuple[Term, ...]:
    """Return the terms of a selector that only sees labels; none for no selector."""
    terms = selector.node_selector_terms if selector is not None else ()
    return tuple(_term(replace(term, match_fields=()), at) for term in terms)


def one_of(key: str, values: tuple[str, ...], at: AtNode) -> Expression:
    """Return the expression that a label has one of the values."""
    return _label_expression(NodeSelectorRequirement(key=key, operator="In", values=values), at)


def _term(term: NodeSelectorTerm, at: AtNode) -> Term:
    found = [_label_expression(each, at) for each in term.match_expressions]
    found += [_field_expression(each, at) for each in term.match_fields]
    return Term(tuple(found), tuple(node_term_errors(term)))


def _label_expression(requirement: NodeSelectorRequirement, at: AtNode) -> Expression:
    actual = at.label(requirement.key)
    met = requirement_matches(requirement, actual)
    return _expression(requirement, actual, met, is_field=False)


def _field_expression(requirement: NodeSelectorRequirement, at: AtNode) -> Expression:
    actual = at.node_name if requirement.key == METADATA_NAME else ""
    met = field_requirement_matches(requirement, at.node_name)
    return _expression(requirement, actual, met, is_field=True)


def _expression(
    requirement: NodeSelectorRequirement, actual: str | None, met: bool, *, is_field: bool
) -> Expression:
    return Expression(
        requirement.key, requirement.operator, requirement.values, is_field, actual, met
    )


def expression_text(key: str, operator: str, values: Sequence[str]) -> str:
    """Return an expression as people write it: `disk in (ssd, nvme)`, `zone exists`."""
    match operator:
        case "In" if len(values) == 1:
            return f"{key}={values[0]}"
        case "NotIn" if len(values) == 1:
            return f"{key}!={values[0]}"
        case "In":
            return f"{key} in ({', '.join(values)})"
        case "NotIn":
            return f"{key} not in ({', '.join(values)})"
        case "Exists":
            return say("labels.has_key", "label {key}", key=key)
        case "DoesNotExist":
            return say("labels.lacks_key", "no label {key}", key=key)
        case "Gt":
            return f"{key}>{', '.join(values)}"
        case "Lt":
            return f"{key}<{', '.join(values)}"
        case _:
            return f"{key} {operator} {', '.join(values)}"


# ---------------------------------------------------------------- scoring


@dataclass(frozen=True, slots=True)
class PreferredTerm:
    """A preferred term; its weight counts if the node meets it."""

    source: Source
    weight: int
    term: Term


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferredNodeTerms(RawScore):
    """The weights of the preferred terms that the node meets, summed up."""

    kind = "preferredNodeTerms"
    formula = say("labels.score_formula", "sum of the weights of the preferred terms that match")
    terms: tuple[PreferredTerm, ...]

    @property
    def value(self) -> int:
        return sum(each.weight for each in self.terms if each.term.met)

    @property
    def text(self) -> str:
        parts = (
            say("score.points_of", "{points} ({what})", points=each.weight, what=each.term.asks)
            if each.term.met
            else say("labels.term_misses", "0 ({term}: no)", term=each.term.asks)
            for each in self.terms
        )
        return say("score.sum", "{sum} = {value}", sum=series(parts, PLUS) or 0, value=self.value)


def preferred_node_terms(plugin: NodeAffinity, at: AtNode) -> PreferredNodeTerms:
    asked: tuple[tuple[Source, Sequence[PreferredSchedulingTerm]], ...] = (
        ("scheduler", plugin.added_preferred),
        ("pod", preferred_terms(at.pod.pod.spec)),
    )
    return PreferredNodeTerms(
        terms=tuple(
            PreferredTerm(source, each.weight, _term(each.preference, at))
            for source, terms in asked
            for each in terms
        )
    )


def required_values(spec: PodSpec, keys: Sequence[str]) -> set[str]:
    """Return the values of a label, under any of some keys, that a pod requires of its node."""
    found = {spec.node_selector[key] for key in keys if key in spec.node_selector}
    required = required_terms(spec)
    for term in required.node_selector_terms if required is not None else ():
        for each in term.match_expressions:
            if each.key in keys and each.operator == "In":
                found |= set(each.values)
    return found
