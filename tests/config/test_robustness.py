"""Whatever is uploaded, loading answers with a configuration or a ConfigError."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler_core.config import ConfigError, JsonValue, load_configuration
from tests.config.in_tree import HEADER, IN_TREE

NAMES = (
    "parallelism percentageOfNodesToScore podMaxBackoffSeconds leaderElection leaseDuration "
    "clientConnection qps burst enableProfiling profiles schedulerName plugins pluginConfig name "
    "args multiPoint score queueSort enabled disabled weight extenders urlPrefix tlsConfig caData "
    "httpTimeout managedResources addedAffinity defaultConstraints scoringStrategy resources "
    "shape kind apiVersion"
)
FIELDS = st.sampled_from(NAMES.split())
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(0.1, 0.9)
    | st.sampled_from([*IN_TREE, "*", "10s", "", "YQ==", "List"])
    | st.text(alphabet="abc é/.:-*&", max_size=5)
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=20,
)
DOCUMENTS = st.fixed_dictionaries(
    {
        "apiVersion": st.just("kubescheduler.config.k8s.io/v1"),
        "kind": st.just("KubeSchedulerConfiguration"),
    },
    optional={
        "parallelism": SCALARS,
        "clientConnection": VALUES,
        "leaderElection": VALUES,
        "profiles": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "schedulerName": SCALARS,
                    "plugins": st.dictionaries(FIELDS, VALUES, max_size=3),
                    "pluginConfig": st.lists(
                        st.fixed_dictionaries(
                            {"name": st.sampled_from(sorted(IN_TREE)), "args": VALUES}
                        ),
                        max_size=2,
                    ),
                },
            ),
            max_size=3,
        ),
        "extenders": VALUES,
    },
)


def outcome(text: str | bytes) -> str:
    """What loading comes to, never empty; any other exception fails the test."""
    try:
        return f"loaded {load_configuration(text)}"
    except ConfigError as error:
        return str(error)


@given(st.text() | st.text(alphabet="ab:-[]{}&*!|>#'\"%@,? \n\t01"))
@example("? [a]\n: b\n")
@example("!!python/object/apply:os.system ['true']")
@example("a: &a {<<: *a}")
@example("<<: 1")
@example("{\ud800")
@example("\x00")
def test_any_text(text: str) -> None:
    assert outcome(text)


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    assert outcome(data)


@given(DOCUMENTS)
def test_json_and_yaml_come_to_the_same(document: dict[str, JsonValue]) -> None:
    text = json.dumps(document)
    assert outcome(f"# yaml\n{text}").replace("line 2:", "line 1:") == outcome(text)


@pytest.mark.parametrize("number", ["1" * 400, "1e400", "-1e400", "0.1e-400", "1" * 5000])
def test_numbers_beyond_all_bounds(number: str) -> None:
    assert outcome(f"{HEADER}parallelism: {number}").startswith(("line 3: ", "yaml: "))
    document = json.dumps({"clientConnection": {"qps": 0}}).replace("0", number)
    assert outcome(document)
