"""Every rule about values, with the line the offending value stands on."""

import pytest

from scheduler_core.config import load_configuration
from tests.config.in_tree import HEADER, problems_of
from tests.tables import rows


@pytest.mark.parametrize(("body", "line", "field", "message"), rows(__file__, "values"))
def test_values(body: str, line: int | None, field: str, message: str) -> None:
    assert problems_of(body) == [(line, field, message)]


def test_all_problems_are_reported() -> None:
    found = problems_of(
        """parallelism: -1
percentageOfNodesToScore: 200
podInitialBackoffSeconds: -2
podMaxBackoffSeconds: -3
leaderElection: {leaseDuration: -1s, renewDeadline: -1s, retryPeriod: -1s, resourceLock: x}
profiles:
- schedulerName: a
  pluginConfig:
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 101}
- schedulerName: a
extenders:
- {prioritizeVerb: x, bindVerb: y}
- {bindVerb: y}
"""
    )
    assert sorted(line for line, _, _ in found if line) == [
        3, 4, 5, 6, 7, 7, 7, 7, 7, 12, 13, 14, 15,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "percentageOfNodesToScore: 100",
        "podInitialBackoffSeconds: 10",
        "leaderElection: {leaderElect: false, resourceLock: x, retryPeriod: -1s}",
        "profiles: []",
        "profiles:\n- schedulerName: a\n- schedulerName: b",
        "extenders:\n- filterVerb: filter",
        "extenders:\n- {urlPrefix: '', bindVerb: bind}\n- {weight: -1}",
        "extenders:\n- tlsConfig: {insecure: true}\n- tlsConfig: {caFile: ca.pem}",
    ],
)
def test_values_at_the_border_are_accepted(body: str) -> None:
    assert load_configuration(HEADER + body).profiles
