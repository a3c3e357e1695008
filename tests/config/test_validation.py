"""Every rule about values, with the line the offending value stands on."""

import pytest

from scheduler_core.config import load_configuration
from tests.config.in_tree import HEADER, LABEL_KEY_RULE, problems_of


@pytest.mark.parametrize(
    ("body", "line", "field", "message"),
    [
        (
            "parallelism: 0",
            3,
            "parallelism",
            "Invalid value: 0: should be an integer value greater than zero",
        ),
        (
            "percentageOfNodesToScore: 101",
            3,
            "percentageOfNodesToScore",
            "Invalid value: 101: not in valid range [0-100]",
        ),
        (
            "percentageOfNodesToScore: -1",
            3,
            "percentageOfNodesToScore",
            "Invalid value: -1: not in valid range [0-100]",
        ),
        (
            "profiles:\n- percentageOfNodesToScore: 101",
            4,
            "profiles[0].percentageOfNodesToScore",
            "Invalid value: 101: not in valid range [0-100]",
        ),
        (
            "podInitialBackoffSeconds: 0",
            3,
            "podInitialBackoffSeconds",
            "Invalid value: 0: must be greater than 0",
        ),
        (
            "podMaxBackoffSeconds: 4\npodInitialBackoffSeconds: 5",
            3,
            "podMaxBackoffSeconds",
            "Invalid value: 4: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        (
            "podInitialBackoffSeconds: 11",
            None,
            "podMaxBackoffSeconds",
            "Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        (
            "clientConnection: {burst: -1}",
            3,
            "clientConnection.burst",
            "Invalid value: -1: must be non-negative",
        ),
        (
            "leaderElection:\n  resourceLock: configmaps",
            4,
            "leaderElection.resourceLock",
            'Invalid value: "configmaps": resourceLock value must be "leases"',
        ),
        (
            "leaderElection:\n  retryPeriod: -1m30.5s",
            4,
            "leaderElection.retryPeriod",
            'Invalid value: "-1m30.5s": must be greater than zero',
        ),
        (
            "leaderElection:\n  leaseDuration: 5s",
            4,
            "leaderElection.leaseDuration",
            'Invalid value: "10s": must be greater than `RenewDeadline`',
        ),
        ('profiles: [{schedulerName: ""}]', 3, "profiles[0].schedulerName", "Required value"),
        (
            "profiles:\n- schedulerName: a\n- percentageOfNodesToScore: 5",
            5,
            "profiles[1].schedulerName",
            "Required value",
        ),
        (
            "profiles:\n- schedulerName: a\n- schedulerName: b\n- schedulerName: a",
            6,
            "profiles[2].schedulerName",
            'Duplicate value: "profiles[0].schedulerName"',
        ),
        (
            "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: ImageLocality\n"
            "      - name: EBSLimits",
            8,
            "profiles[0].plugins.score.enabled[1]",
            'Invalid value: "EBSLimits": was invalid in version "v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
        ),
        (
            "profiles:\n- pluginConfig:\n  - name: GCEPDLimits",
            5,
            "profiles[0].pluginConfig[0]",
            'Invalid value: "GCEPDLimits": was invalid in version "v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
        ),
        (
            "profiles:\n- pluginConfig:\n  - name: Mine\n  - name: Mine",
            6,
            "profiles[0].pluginConfig[1]",
            'Duplicate value: "Mine"',
        ),
        (
            "profiles:\n- plugins:\n    queueSort:\n      enabled: [{name: A}, {name: B}]",
            6,
            "profiles[0].plugins.queueSort.enabled",
            "Invalid value: 2: only one queue sort plugin can be enabled",
        ),
        (
            "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    queueSort:\n"
            "      enabled: [{name: B}]",
            7,
            "profiles[1].plugins.queueSort",
            'Invalid value: {"enabled":["B"],"disabled":[]}: must be the same for all profiles',
        ),
        (
            "profiles:\n- schedulerName: a\n  plugins: {queueSort: {enabled: [{name: B}]}}\n"
            "- schedulerName: b\n  plugins: {queueSort: {enabled: [{name: B}]}}\n"
            "  pluginConfig:\n  - name: Other\n  - name: B\n    args: {c: 1}",
            11,
            "profiles[1].pluginConfig[name=B].args",
            'Invalid value: "B": queueSort must be the same for all profiles',
        ),
        (
            "extenders:\n- prioritizeVerb: prioritize",
            4,
            "extenders[0].weight",
            "Invalid value: 0: must have a positive weight applied to it",
        ),
        (
            "extenders:\n- prioritizeVerb: prioritize\n  weight: -1",
            5,
            "extenders[0].weight",
            "Invalid value: -1: must have a positive weight applied to it",
        ),
        (
            "extenders:\n- bindVerb: bind\n- bindVerb: bind",
            3,
            "extenders",
            'Invalid value: "found 2 extenders implementing bind": '
            "only one extender can implement bind",
        ),
        (
            "extenders:\n- managedResources: [{name: example.com/a}]\n"
            "- managedResources:\n  - name: example.com/b\n  - name: example.com/a",
            7,
            "extenders[1].managedResources[1].name",
            'Invalid value: "example.com/a": duplicate extender managed resource name',
        ),
        (
            "extenders:\n- managedResources: [{name: cpu}]",
            4,
            "extenders[0].managedResources[0].name",
            'Invalid value: "cpu": is an invalid extended resource name',
        ),
        (
            "extenders:\n- managedResources: [{name: kubernetes.io/a}]",
            4,
            "extenders[0].managedResources[0].name",
            'Invalid value: "kubernetes.io/a": is an invalid extended resource name',
        ),
        (
            "extenders:\n- managedResources: [{name: requests.example.com/a}]",
            4,
            "extenders[0].managedResources[0].name",
            'Invalid value: "requests.example.com/a": is an invalid extended resource name',
        ),
        (
            "extenders:\n- managedResources: [{name: example.com/-}]",
            4,
            "extenders[0].managedResources[0].name",
            f'Invalid value: "example.com/-": {LABEL_KEY_RULE}',
        ),
        (
            "extenders:\n- tlsConfig:\n    caFile: ca.pem\n    insecure: true",
            6,
            "extenders[0].tlsConfig.insecure",
            "Invalid value: true: "
            "specifying a root certificates file with the insecure flag is not allowed",
        ),
    ],
)
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
