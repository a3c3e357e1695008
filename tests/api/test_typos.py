"""Slips that would pass silently are told with the path of the field."""

from scheduler_core.api.ingest import ingest

POD = """apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  nodeselector: {a: b}
  nodeSelector: {a: b}
  tolerations: [{key: a, operator: Equals}, {key: b, operator: Exists}, {key: c}]
  containers:
  - name: c
    image: x
    resource: {requests: {cpu: 1}}
    resources: {requests: {memory: 512m, cpu: 100m}, limits: {nvidia.com/gpu: "0.5"}}
"""


def test_slips_are_told_with_the_field_and_what_was_meant() -> None:
    unknown = "is not known, so it does nothing; did you mean"
    assert ingest([("f", POD.encode())]).warnings[:5] == (
        f'default/p, spec.nodeselector: "nodeselector" {unknown} "nodeSelector"?',
        f'default/p, spec.containers[0].resource: "resource" {unknown} "resources"?',
        f'default/p, spec.tolerations[0].operator: "Equals" {unknown} "Equal"?',
        'default/p, spec.containers[0].resources.requests.memory: "512m" is in thousandths of a '
        'byte; did you mean "512Mi"?',
        'default/p, spec.containers[0].resources.limits[nvidia.com/gpu]: "0.5" is refused by an '
        "API server: nvidia.com/gpu comes in whole numbers",
    )
