import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import (
    LabelSelector,
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Taint,
    Toleration,
)
from scheduler_core.api.labels import label_key_problems, label_value_problems
from scheduler_core.api.selectors import (
    find_untolerated_taint,
    label_selector_error,
    label_selector_is_empty,
    label_selector_matches,
    labels_match,
    node_selector_error,
    node_selector_matches,
    requirement_matches,
    toleration_tolerates,
    tolerations_tolerate,
)


def label_rule(operator: str, *values: str, key: str = "tier") -> LabelSelectorRequirement:
    return LabelSelectorRequirement(key=key, operator=operator, values=values)


def node_rule(operator: str, *values: str, key: str = "cores") -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


@pytest.mark.parametrize(
    ("operator", "values", "value", "expected"),
    [
        ("In", ("a", "b"), "a", True),
        ("In", ("a", "b"), "c", False),
        ("In", ("a", "b"), None, False),
        ("In", ("",), "", True),
        ("NotIn", ("a",), "b", True),
        ("NotIn", ("a",), "a", False),
        ("NotIn", ("a",), None, True),
        ("Exists", (), "", True),
        ("Exists", (), None, False),
        ("DoesNotExist", (), "a", False),
        ("DoesNotExist", (), None, True),
        ("Gt", ("3",), "4", True),
        ("Gt", ("3",), "3", False),
        ("Gt", ("3",), None, False),
        ("Gt", ("3",), "four", False),
        ("Gt", ("3",), "+4", True),
        ("Gt", ("3",), "004", True),
        ("Gt", ("3",), "4.5", False),
        ("Gt", ("3",), "4_0", False),
        ("Gt", ("3",), "99999999999999999999", False),
        ("Gt", ("3", "4"), "9", False),
        ("Gt", (), "9", False),
        ("Lt", ("3",), "-2", True),
        ("Lt", ("three",), "2", False),
        ("Equals", ("a",), "a", False),
        ("", ("a",), "a", False),
    ],
)
def test_one_requirement_against_one_value(
    operator: str, values: tuple[str, ...], value: str | None, expected: bool
) -> None:
    assert requirement_matches(node_rule(operator, *values), value) is expected


def test_no_label_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert not label_selector_matches(None, {"app": "web"})
    assert label_selector_matches(LabelSelector(), {"app": "web"})
    assert label_selector_matches(LabelSelector(), {})
    assert label_selector_is_empty(LabelSelector())
    assert not label_selector_is_empty(LabelSelector(match_labels={"app": "web"}))


def test_a_label_selector_does_not_know_comparisons() -> None:
    selector = LabelSelector(match_expressions=(label_rule("Gt", "3"),))
    assert not label_selector_matches(selector, {"tier": "4"})
    assert label_selector_error(selector) == '"Gt" is not a valid label selector operator'


@pytest.mark.parametrize(
    ("selector", "problem"),
    [
        (None, ""),
        (LabelSelector(match_labels={"app": "web"}), ""),
        (
            LabelSelector(match_expressions=(label_rule("In"),)),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            LabelSelector(match_expressions=(label_rule("Exists", "a"),)),
            'values: Invalid value: ["a"]: values set must be empty for exists and does not exist',
        ),
        (
            LabelSelector(match_expressions=(label_rule("Exists", key=""),)),
            'key: Invalid value: "": name part must be non-empty; name part must consist of '
            "alphanumeric characters, '-', '_' or '.', and must start and end with an "
            "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
            "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ),
    ],
)
def test_why_a_label_selector_is_invalid(selector: LabelSelector | None, problem: str) -> None:
    assert label_selector_error(selector) == problem


def test_node_terms_are_alternatives_and_empty_ones_select_nothing() -> None:
    by_cores = NodeSelectorTerm(match_expressions=(node_rule("Gt", "8"),))
    by_name = NodeSelectorTerm(match_fields=(node_rule("In", "ada", key="metadata.name"),))
    assert not node_selector_matches(NodeSelector(), {"cores": "16"}, "ada")
    assert not node_selector_matches(
        NodeSelector(node_selector_terms=(NodeSelectorTerm(),)), {}, "ada"
    )
    either = NodeSelector(node_selector_terms=(by_cores, by_name, NodeSelectorTerm()))
    assert node_selector_matches(either, {"cores": "16"}, "grace")
    assert node_selector_matches(either, {}, "ada")
    assert not node_selector_matches(either, {"cores": "8"}, "grace")


def test_node_fields() -> None:
    not_ada = NodeSelectorTerm(match_fields=(node_rule("NotIn", "ada", key="metadata.name"),))
    selector = NodeSelector(node_selector_terms=(not_ada,))
    assert node_selector_matches(selector, {}, "grace")
    assert not node_selector_matches(selector, {}, "ada")
    other_field = NodeSelectorTerm(match_fields=(node_rule("In", "x", key="spec.other"),))
    assert not node_selector_matches(NodeSelector(node_selector_terms=(other_field,)), {}, "x")


def test_an_invalid_node_term_is_passed_over_and_reported() -> None:
    invalid = NodeSelectorTerm(
        match_expressions=(node_rule("Gt", "many"), node_rule("Near", "a")),
        match_fields=(
            node_rule("In", "a", "b", key="metadata.name"),
            node_rule("Exists", key="metadata.name"),
        ),
    )
    valid = NodeSelectorTerm(match_expressions=(node_rule("Exists"),))
    selector = NodeSelector(node_selector_terms=(invalid, valid))
    assert node_selector_matches(selector, {"cores": "1"}, "ada")
    assert node_selector_error(NodeSelector(node_selector_terms=(valid,))) == ""
    assert node_selector_error(selector) == (
        "[nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: \"many\": for 'Gt', "
        "'Lt' operators, the value must be an integer, "
        'nodeSelectorTerms[0].matchExpressions[1].operator: Unsupported value: "Near": supported '
        'values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", '
        'nodeSelectorTerms[0].matchFields[0].values: Invalid value: ["a","b"]: must have one '
        "element, nodeSelectorTerms[0].matchFields[1].operator: Unsupported value: "
        '"Exists": supported values: "In", "NotIn"]'
    )


GPU = Taint(key="gpu", value="a100", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (Toleration(key="gpu", value="a100", effect="NoSchedule"), True),
        (Toleration(key="gpu", operator="Equal", value="a100"), True),
        (Toleration(key="gpu", operator="Equal", value="h100"), False),
        (Toleration(key="gpu", operator="Exists"), True),
        (Toleration(operator="Exists"), True),
        (Toleration(key="gpu", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="cpu", operator="Exists"), False),
        (Toleration(value="a100"), True),
        (Toleration(key="gpu", operator="In", value="a100"), False),
    ],
)
def test_tolerations(toleration: Toleration, expected: bool) -> None:
    assert toleration_tolerates(toleration, GPU) is expected


@pytest.mark.parametrize(
    ("operator", "limit", "tainted", "expected"),
    [
        ("Lt", "10", "9", True),
        ("Lt", "10", "10", False),
        ("Gt", "10", "11", True),
        ("Gt", "-1", "0", True),
        ("Gt", "10", "011", False),
        ("Gt", "+10", "11", False),
        ("Gt", "ten", "11", False),
        ("Gt", "10", "99999999999999999999", False),
    ],
)
def test_comparing_tolerations_need_their_feature_gate(
    operator: str, limit: str, tainted: str, expected: bool
) -> None:
    toleration = Toleration(key="sla", operator=operator, value=limit)
    taint = Taint(key="sla", value=tainted, effect="NoSchedule")
    assert toleration_tolerates(toleration, taint, comparison_operators=True) is expected
    assert not toleration_tolerates(toleration, taint)


def test_the_first_untolerated_taint_of_the_asked_effects() -> None:
    soft = Taint(key="spot", effect="PreferNoSchedule")
    hard = Taint(key="cordon", effect="NoSchedule")
    tolerations = (Toleration(key="gpu", operator="Exists"),)
    assert find_untolerated_taint((GPU, soft, hard), tolerations, ("NoSchedule",)) == hard
    assert find_untolerated_taint((GPU, soft), tolerations, ("NoSchedule",)) is None
    assert tolerations_tolerate(tolerations, GPU)
    assert not tolerations_tolerate((), GPU)


@pytest.mark.parametrize("key", ["app", "a.b-c_d", "example.com/app", "1", "x" * 63])
def test_valid_label_keys(key: str) -> None:
    assert label_key_problems(key) == []


@pytest.mark.parametrize(
    "key", ["", "/app", "a/", "a/b/c", "-a", "a-", "A.com/x", "x" * 64, "a b", "p" * 254 + "/x"]
)
def test_invalid_label_keys(key: str) -> None:
    assert label_key_problems(key)


def test_label_values() -> None:
    assert label_value_problems("") == []
    assert label_value_problems("v1.2_x-3") == []
    assert label_value_problems("x" * 64)[0] == "must be no more than 63 bytes"
    assert label_value_problems("a b")[0].startswith("a valid label must be an empty string or")


keys = st.sampled_from(["app", "tier", "zone"])
values = st.sampled_from(["", "a", "b", "7", "12"])
label_sets = st.dictionaries(keys, values)
label_rules = st.builds(
    lambda key, operator, chosen: LabelSelectorRequirement(
        key=key, operator=operator, values=() if "Exist" in operator else tuple(chosen)
    ),
    keys,
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    st.lists(values, min_size=1, max_size=3),
)
OPPOSITE = {"In": "NotIn", "NotIn": "In", "Exists": "DoesNotExist", "DoesNotExist": "Exists"}


@given(label_rules, label_sets)
def test_opposite_operators_never_agree(
    rule: LabelSelectorRequirement, labels: dict[str, str]
) -> None:
    opposite = LabelSelectorRequirement(
        key=rule.key, operator=OPPOSITE[rule.operator], values=rule.values
    )
    value = labels.get(rule.key)
    assert requirement_matches(rule, value) is not requirement_matches(opposite, value)


@given(st.lists(label_rules, max_size=4), label_sets, label_sets)
def test_a_selector_is_the_conjunction_of_its_parts(
    rules: list[LabelSelectorRequirement], wanted: dict[str, str], labels: dict[str, str]
) -> None:
    whole = LabelSelector(match_labels=wanted, match_expressions=tuple(rules))
    parts = [LabelSelector(match_labels=wanted)]
    parts += [LabelSelector(match_expressions=(rule,)) for rule in rules]
    assert label_selector_error(whole) == ""
    assert label_selector_matches(whole, labels) is all(
        label_selector_matches(part, labels) for part in parts
    )


@given(label_sets, label_sets)
def test_wanting_a_label_is_wanting_it_to_be_in_one_value(
    wanted: dict[str, str], labels: dict[str, str]
) -> None:
    as_rules = LabelSelector(
        match_expressions=tuple(
            LabelSelectorRequirement(key=key, operator="In", values=(value,))
            for key, value in wanted.items()
        )
    )
    as_labels = LabelSelector(match_labels=wanted)
    expected = labels_match(wanted, labels)
    assert label_selector_matches(as_labels, labels) is expected
    assert label_selector_matches(as_rules, labels) is expected


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-(1 << 63), (1 << 63) - 1))
def test_comparisons_agree_with_numbers(limit: int, labelled: int) -> None:
    value = str(labelled)
    assert requirement_matches(node_rule("Gt", str(limit)), value) is (labelled > limit)
    assert requirement_matches(node_rule("Lt", str(limit)), value) is (labelled < limit)
