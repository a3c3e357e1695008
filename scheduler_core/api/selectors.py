"""Label selectors, node selectors and tolerations as plain functions over dictionaries.

An invalid selector matches nothing; ask :func:`label_selector_error` or
:func:`node_selector_error` for the reason, as upstream reports it before matching.

Upstream: v1.36 staging/src/k8s.io/apimachinery/pkg/labels/selector.go,
component-helpers/scheduling/corev1/nodeaffinity, api/core/v1/toleration.go.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from scheduler_core.api.labels import label_key_problems, label_value_problems
from scheduler_core.api.meta import (
    LabelSelector,
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from scheduler_core.api.node import Taint
from scheduler_core.api.pod import PodSpec, Toleration

Requirement = LabelSelectorRequirement | NodeSelectorRequirement

LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
NODE_OPERATORS = (*LABEL_OPERATORS, "Gt", "Lt")
FIELD_OPERATORS = ("In", "NotIn")
METADATA_NAME = "metadata.name"

_INTEGER = re.compile(r"[+-]?[0-9]+")
_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def requirement_matches(requirement: Requirement, value: str | None) -> bool:
    """Whether a label with this value meets the requirement; ``None`` is an absent label.

    Columns call this once per distinct value of the requirement's key.
    """
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return value is not None and _compares(requirement, value)
        case _:
            return False


def labels_match(wanted: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether every wanted label is there; nothing wanted matches everything.

    This is how ``nodeSelector`` and the selectors of services and replication controllers match.
    """
    return all(labels.get(key) == value for key, value in wanted.items())


def label_selector_matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether the labels are selected: ``None`` selects nothing, an empty selector everything."""
    if selector is None or not labels_match(selector.match_labels, labels):
        return False
    return all(
        requirement.operator in LABEL_OPERATORS
        and requirement_matches(requirement, labels.get(requirement.key))
        for requirement in selector.match_expressions
    )


def label_selector_is_empty(selector: LabelSelector) -> bool:
    """Whether the selector asks for nothing and so selects everything."""
    return not selector.match_labels and not selector.match_expressions


def label_selector_error(selector: LabelSelector | None) -> str:
    """Why the selector is invalid, ``""`` when it is valid."""
    if selector is None:
        return ""
    for key, wanted in selector.match_labels.items():
        problems = _requirement_problems(key, "In", (wanted,), "")
        if problems:
            return _aggregate(problems)
    for requirement in selector.match_expressions:
        if requirement.operator not in LABEL_OPERATORS:
            return f'"{requirement.operator}" is not a valid label selector operator'
        problems = _requirement_problems(
            requirement.key, requirement.operator, requirement.values, ""
        )
        if problems:
            return _aggregate(problems)
    return ""


def node_term_is_empty(term: NodeSelectorTerm) -> bool:
    """An empty term selects no node and is never an error."""
    return not term.match_expressions and not term.match_fields


def node_term_matches(term: NodeSelectorTerm, labels: Mapping[str, str], node_name: str) -> bool:
    """Whether the term selects a node of these labels and this name.

    The caller has ruled out an invalid term, see :func:`node_term_errors`.
    """
    if node_term_is_empty(term):
        return False
    return all(
        requirement_matches(requirement, labels.get(requirement.key))
        for requirement in term.match_expressions
    ) and all(
        field_requirement_matches(requirement, node_name) for requirement in term.match_fields
    )


def field_requirement_matches(requirement: NodeSelectorRequirement, node_name: str) -> bool:
    """Whether a ``matchFields`` requirement holds for a node of this name.

    Upstream knows the field ``metadata.name`` only; any other reads as an empty string.
    """
    if not node_name:
        return True
    value = node_name if requirement.key == METADATA_NAME else ""
    return requirement.operator in FIELD_OPERATORS and requirement_matches(requirement, value)


def node_selector_matches(
    selector: NodeSelector, labels: Mapping[str, str], node_name: str
) -> bool:
    """Whether one of the valid terms selects the node; invalid terms are passed over."""
    return any(
        node_term_matches(term, labels, node_name)
        for term in selector.node_selector_terms
        if not node_term_errors(term)
    )


def node_selector_error(selector: NodeSelector) -> str:
    """What is invalid in the selector's terms, ``""`` when nothing is.

    Upstream raises this only for a node that no valid term selects.
    """
    problems: list[str] = []
    for index, term in enumerate(selector.node_selector_terms):
        problems.extend(node_term_errors(term, f"nodeSelectorTerms[{index}]"))
    return _aggregate(problems)


def node_term_errors(term: NodeSelectorTerm, path: str = "") -> list[str]:
    """What is invalid in a term, each problem with its field path below ``path``."""
    prefix = f"{path}." if path else ""
    problems: list[str] = []
    for index, requirement in enumerate(term.match_expressions):
        at = f"{prefix}matchExpressions[{index}]"
        if requirement.operator not in NODE_OPERATORS:
            problems.append(_unsupported(at, requirement.operator, NODE_OPERATORS))
            continue
        problems.extend(
            _requirement_problems(requirement.key, requirement.operator, requirement.values, at)
        )
    for index, requirement in enumerate(term.match_fields):
        at = f"{prefix}matchFields[{index}]"
        if requirement.operator not in FIELD_OPERATORS:
            problems.append(_unsupported(at, requirement.operator, FIELD_OPERATORS))
        elif len(requirement.values) != 1:
            shown = _go_strings(requirement.values)
            problems.append(f"{at}.values: Invalid value: {shown}: must have one element")
    return problems


def required_node_affinity_matches(
    spec: PodSpec, labels: Mapping[str, str], node_name: str
) -> bool:
    """Whether the pod's ``nodeSelector`` and required node affinity both select the node.

    Upstream: v1.36 nodeaffinity.RequiredNodeAffinity.
    """
    if not labels_match(spec.node_selector, labels):
        return False
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if affinity is None:
        return True
    required = affinity.required_during_scheduling_ignored_during_execution
    return required is None or node_selector_matches(required, labels, node_name)


def toleration_tolerates(
    toleration: Toleration, taint: Taint, *, comparison_operators: bool = False
) -> bool:
    """Whether the toleration tolerates the taint.

    ``comparison_operators`` is the feature gate TaintTolerationComparisonOperators, off by default
    in v1.36: without it a toleration with ``Lt`` or ``Gt`` tolerates nothing.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Lt" | "Gt" if comparison_operators:
            return _taint_compares(toleration, taint)
        case _:
            return False


def tolerations_tolerate(
    tolerations: Iterable[Toleration], taint: Taint, *, comparison_operators: bool = False
) -> bool:
    """Whether any of the tolerations tolerates the taint."""
    return any(
        toleration_tolerates(toleration, taint, comparison_operators=comparison_operators)
        for toleration in tolerations
    )


def find_untolerated_taint(
    taints: Iterable[Taint],
    tolerations: Sequence[Toleration],
    effects: Collection[str],
    *,
    comparison_operators: bool = False,
) -> Taint | None:
    """The first taint of one of the effects that no toleration tolerates."""
    for taint in taints:
        if taint.effect in effects and not tolerations_tolerate(
            tolerations, taint, comparison_operators=comparison_operators
        ):
            return taint
    return None


def _compares(requirement: Requirement, value: str) -> bool:
    if len(requirement.values) != 1:
        return False
    labelled, wanted = _int64(value), _int64(requirement.values[0])
    if labelled is None or wanted is None:
        return False
    return labelled > wanted if requirement.operator == "Gt" else labelled < wanted


def _taint_compares(toleration: Toleration, taint: Taint) -> bool:
    if not _CANONICAL_INTEGER.fullmatch(toleration.value):
        return False
    if not _CANONICAL_INTEGER.fullmatch(taint.value):
        return False
    limit, tainted = _int64(toleration.value), _int64(taint.value)
    if limit is None or tainted is None:
        return False
    return tainted < limit if toleration.operator == "Lt" else tainted > limit


def _int64(text: str) -> int | None:
    """The number as Go's ``strconv.ParseInt(text, 10, 64)`` reads it, ``None`` for an error."""
    if len(text) > 4000 or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(1 << 63) <= number < (1 << 63) else None


def _requirement_problems(key: str, operator: str, values: tuple[str, ...], path: str) -> list[str]:
    """Upstream: labels.NewRequirement."""
    at = f"{path}." if path else ""
    problems = []
    key_problems = label_key_problems(key)
    if key_problems:
        problems.append(f'{at}key: Invalid value: "{key}": {"; ".join(key_problems)}')
    problems.extend(_values_problems(operator, values, at))
    for index, value in enumerate(values):
        value_problems = label_value_problems(value)
        if value_problems:
            shown = "; ".join(value_problems)
            problems.append(f'{at}values[{index}][{key}]: Invalid value: "{value}": {shown}')
    return problems


def _values_problems(operator: str, values: tuple[str, ...], at: str) -> list[str]:
    shown = _go_strings(values)
    match operator:
        case "In" | "NotIn" if not values:
            what = "for 'in', 'notin' operators, values set can't be empty"
            return [f"{at}values: Invalid value: {shown}: {what}"]
        case "Exists" | "DoesNotExist" if values:
            what = "values set must be empty for exists and does not exist"
            return [f"{at}values: Invalid value: {shown}: {what}"]
        case "Gt" | "Lt":
            what = "for 'Gt', 'Lt' operators, exactly one value is required"
            problems = [] if len(values) == 1 else [f"{at}values: Invalid value: {shown}: {what}"]
            what = "for 'Gt', 'Lt' operators, the value must be an integer"
            problems.extend(
                f'{at}values[{index}]: Invalid value: "{value}": {what}'
                for index, value in enumerate(values)
                if _int64(value) is None
            )
            return problems
        case _:
            return []


def _unsupported(path: str, operator: str, supported: Iterable[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in supported)
    return f'{path}.operator: Unsupported value: "{operator}": supported values: {shown}'


def _aggregate(problems: Sequence[str]) -> str:
    """One message as Go's aggregate prints it: several distinct problems in brackets."""
    distinct = list(dict.fromkeys(problems))
    if len(distinct) <= 1:
        return "".join(distinct)
    return f"[{', '.join(distinct)}]"


def _go_strings(values: Sequence[str]) -> str:
    # Upstream prints an absent list as JSON does.
    return "null" if not values else "[" + ",".join(f'"{value}"' for value in values) + "]"
