"""Slips that would pass silently are told with the path of the field."""

import pytest

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
        'default/p, spec.tolerations[0].operator: "Equals" is refused by an API server; did you '
        'mean "Equal"?',
        'default/p, spec.containers[0].resources.requests.memory: "512m" is in thousandths of a '
        'byte; did you mean "512Mi"?',
        'default/p, spec.containers[0].resources.limits[nvidia.com/gpu]: "0.5" is refused by an '
        "API server: nvidia.com/gpu comes in whole numbers",
    )


NESTED = """apiVersion: v1
kind: Pod
metadata: {name: p, lables: {a: b}}
spec:
  priorityClass: high
  affinity:
    nodeaffinity: {}
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Equals, values: [b]}]}]
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, labelselector: {}}
  tolerations: [{key: a, operator: exists, effect: noSchedule}]
  containers:
  - {name: c, image: x, imagePullPolicy: Always, resources: {request: {}, requests: {cpu: 1000,
     memory: 512, mem: 1Gi, gpu: 1}}}
"""


def test_slips_are_found_at_any_depth() -> None:
    told = [each.partition(", ")[2] for each in ingest([("f", NESTED.encode())]).warnings]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    found = [text.partition(": ")[::2] for text in told if text.startswith(("spec", "metadata"))]
    assert [(path, text.rpartition("mean ")[2]) for path, text in found[:-1]] == [
        ("metadata.lables", '"labels"?'),
        ("spec.priorityClass", '"priorityClassName"?'),
        ("spec.containers[0].resources.request", '"requests"?'),
        ("spec.affinity.nodeaffinity", '"nodeAffinity"?'),
        (f"spec.affinity.podAntiAffinity.{required}[0].labelselector", '"labelSelector"?'),
        ("spec.tolerations[0].operator", '"Exists"?'),
        ("spec.tolerations[0].effect", '"NoSchedule"?'),
        (
            f"spec.affinity.nodeAffinity.{required}.nodeSelectorTerms[0].matchExpressions[0]"
            ".operator",
            '"In"?',
        ),
        ("spec.containers[0].resources.requests.cpu", '"1000m"?'),
        ("spec.containers[0].resources.requests.memory", '"512Mi"?'),
        ("spec.containers[0].resources.requests.mem", '"memory"?'),
    ]
    assert "has a domain, such as nvidia.com/gpu" in found[-1][1]


def test_labels_and_names_that_are_hardly_meant() -> None:
    text = """kind: Node
apiVersion: v1
metadata: {name: n, labels: {kubernetes.io/hostname: n}}
---
apiVersion: v1
kind: Pod
metadata: {name: “p”}
spec:
  nodeSelector: {kubernetes.io/hostnme: n, disk: ssd}
  topologySpreadConstraints:
  - {topologyKey: kubernetes/hostname, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}
  containers: [{name: c}]
"""
    meant = 'did you mean "kubernetes.io/hostname"?'
    assert ingest([("f", text.encode())]).warnings == (
        'default/“p”, metadata.name: "“p”" is refused by an API server: names have small letters, '
        'digits, "-" and "."',
        "default/“p”, spec.nodeSelector[kubernetes.io/hostnme]: no node has the label "
        f'"kubernetes.io/hostnme"; {meant}',
        "default/“p”, spec.topologySpreadConstraints[0].topologyKey: no node has the label "
        f'"kubernetes/hostname"; {meant}',
    )


@pytest.mark.parametrize(
    ("spec", "path", "meant"),
    [
        ("containers: [{name: c, resources: {requests: {cpu: 500M}}}]", "cpu", '"500m"?'),
        ("containers: [{name: c, requests: {cpu: 1}}]", "requests", '"resources.requests"?'),
        ("nodeAffinity: {}, containers: [{name: c}]", "nodeAffinity", '"affinity.nodeAffinity"?'),
        (
            "containers: [{name: c, resources: {limits: {nvidia.com/gpus: 1}}}]",
            "gpus]",
            '"nvidia.com/gpu"?',
        ),
        (
            "containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]",
            "gpu]",
            "write it as a limit",
        ),
        (
            "containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]",
            "cpu",
            "the request is 2",
        ),
        (
            "tolerations: [{key: a, operator: Exists, value: b}], containers: [{name: c}]",
            "value",
            "Exists takes no value",
        ),
        ("nodeSelector: {diskType: ssd}, containers: [{name: c}]", "diskType", '"disktype"?'),
    ],
)
def test_what_an_api_server_refuses_or_no_node_has(spec: str, path: str, meant: str) -> None:
    text = f"""apiVersion: v1
kind: Node
metadata: {{name: n, labels: {{disktype: ssd}}}}
status: {{allocatable: {{nvidia.com/gpu: 1, cpu: 4}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec: {{{spec}}}
"""
    (told,) = ingest([("f", text.encode())]).warnings
    assert told.partition(": ")[0].endswith(path)
    assert told.endswith(meant)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("v1\nkind: pod", '"Pod"?'),
        ("v1\nkind: Nodes", '"Node"?'),
        ("apps/v1\nkind: Pod", "is of v1"),
    ],
)
def test_a_kind_that_is_nearly_one_is_told(kind: str, says: str) -> None:
    text = f"apiVersion: {kind}\nmetadata: {{name: p}}\n"
    assert ingest([("f", text.encode())]).warnings[0].endswith(says)
