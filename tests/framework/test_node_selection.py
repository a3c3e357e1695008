"""Selectors over columns agree with selectors over one node's labels."""

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodSpec,
)
from scheduler_core.api.selectors import node_selector_matches, required_node_affinity_matches
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.framework.node_selection import (
    RequiredNodeAffinity,
    any_term_matches,
    selecting_terms,
)
from tests.builders import HOSTNAME, make_node

KEYS = st.sampled_from(["zone", "disk", "size", "-bad-"])
VALUES = st.sampled_from(["a", "b", "1", "5", "10", "-3", "not valid!"])
NAMES = st.sampled_from(["n0", "n1", "n2", "other"])
OPERATORS = st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Within"])
FIELDS = st.sampled_from(["metadata.name", "metadata.uid"])

expressions = st.builds(
    NodeSelectorRequirement,
    key=KEYS,
    operator=OPERATORS,
    values=st.lists(VALUES, max_size=3).map(tuple),
)
fields = st.builds(
    NodeSelectorRequirement,
    key=FIELDS,
    operator=st.sampled_from(["In", "NotIn", "Exists"]),
    values=st.lists(NAMES | st.just(""), max_size=2).map(tuple),
)
terms = st.builds(
    NodeSelectorTerm,
    match_expressions=st.lists(expressions, max_size=3).map(tuple),
    match_fields=st.lists(fields, max_size=2).map(tuple),
)
selectors = st.builds(NodeSelector, node_selector_terms=st.lists(terms, max_size=3).map(tuple))
labels = st.dictionaries(st.sampled_from(["zone", "disk", "size"]), VALUES)


def columns(labels_of_nodes: Sequence[Mapping[str, str]]) -> Nodes:
    cluster = ClusterColumns()
    for i, its_labels in enumerate(labels_of_nodes):
        cluster.set_node(make_node(f"n{i}").without_label(HOSTNAME).labels(its_labels).obj())
    return Nodes(cluster, np.arange(len(labels_of_nodes)))


@given(selector=selectors, labels_of_nodes=st.lists(labels, min_size=1, max_size=4))
def test_selecting_over_columns_is_selecting_node_by_node(
    selector: NodeSelector, labels_of_nodes: Sequence[Mapping[str, str]]
) -> None:
    selected = any_term_matches(selecting_terms(selector), columns(labels_of_nodes))
    assert selected.tolist() == [
        node_selector_matches(selector, its_labels, f"n{i}")
        for i, its_labels in enumerate(labels_of_nodes)
    ]


@given(
    selector=st.none() | selectors,
    node_selector=st.dictionaries(st.sampled_from(["zone", "disk"]), VALUES, max_size=2),
    labels_of_nodes=st.lists(labels, min_size=1, max_size=4),
)
def test_required_node_affinity(
    selector: NodeSelector | None,
    node_selector: dict[str, str],
    labels_of_nodes: Sequence[Mapping[str, str]],
) -> None:
    required = NodeAffinity(required_during_scheduling_ignored_during_execution=selector)
    spec = PodSpec(node_selector=node_selector, affinity=Affinity(node_affinity=required))
    assert RequiredNodeAffinity.of(spec).matches(columns(labels_of_nodes)).tolist() == [
        required_node_affinity_matches(spec, its_labels, f"n{i}")
        for i, its_labels in enumerate(labels_of_nodes)
    ]


def test_a_view_of_some_rows_in_any_order() -> None:
    nodes = columns([{"zone": "a"}, {"zone": "b"}, {}])
    wanted = RequiredNodeAffinity({"zone": "b"}, None)
    assert wanted.matches(nodes.take(np.array([2, 1, 1]))).tolist() == [False, True, True]
