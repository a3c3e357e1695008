"""`kviz explain` over all pending pods, with a scenario, about one node, and for tickets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kviz.cli import main
from tests import cluster_text
from tests.questions.why.test_command import DUMPS, SAMPLES
from tests.web.cast import NODES, pod

CLINIC = str(SAMPLES / "why-pending.yaml")
LATE = """steps:
- at: 1s
  create:
    apiVersion: v1
    kind: Pod
    metadata: {name: late, namespace: shop}
    spec: {containers: [{name: c, resources: {requests: {cpu: "64"}}}]}
"""


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """Two nodes, and replicas of one owner that are all too big."""
    owner = "ownerReferences: [{kind: ReplicaSet, name: web, uid: u, controller: true}]"
    replicas = "".join(
        pod(f"web-{i}", "64").replace("metadata: {", f"metadata: {{{owner}, ", 1) for i in range(3)
    )
    file = tmp_path / "shop.yaml"
    file.write_text(NODES + replicas)
    return str(file)


def test_pods_of_one_owner_with_one_cause_are_one_group(
    shop: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", shop]) == 0
    text = capsys.readouterr().out
    assert text.startswith("3 pods pending\n")
    assert "shop/web-0, shop/web-1, shop/web-2 of ReplicaSet/web\n  needs 64 cpu" in text
    assert main(["explain", shop, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (group,) = document["groups"]
    assert group["owner"] == "ReplicaSet/web"
    assert len(group["pods"]) == 3
    assert document["pending"][0]["lead"]["plugin"] == "NodeResourcesFit"


def test_for_a_ticket(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", shop, "--format", "markdown"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("**3 pods pending**\n")
    assert "- `shop/web-0, shop/web-1, shop/web-2 of ReplicaSet/web` needs 64 cpu" in text
    assert "  > 0/2 nodes are available: 2 Insufficient cpu." in text
    assert main(["explain", shop, "--pod", "shop/web-0", "--format", "markdown"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("**shop/web-0** needs 64 cpu, the whole node has ")
    assert "| NodeResourcesFit | 2 | 2 x Insufficient cpu |" in text


def test_a_scenario_is_played_first(
    shop: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "late.yaml"
    scenario.write_text(LATE)
    asked = ["explain", shop, "--scenario", str(scenario), "--pod", "shop/late"]
    assert main(asked) == 0
    text = capsys.readouterr().out
    assert text.startswith("1 pod pending\n\nshop/late (bare pod)\n  needs 64 cpu")
    assert main([*asked[:-1], "shop/nobody"]) == 1


def test_one_node_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(DUMPS / "small.yaml.gz")
    assert main(["explain", file, "--pod", "ml/gpu-notol", "--node", "gpu-c2"]) == 0
    text = capsys.readouterr().out
    assert "On gpu-c2:\n  - TaintToleration: does not tolerate taint" in text
    assert "  + NodeResourcesFit: needs " in text
    assert "  Preemption: " in text
    assert main(["explain", file, "--pod", "ml/gpu-notol", "--node", "nowhere"]) == 1
    assert "there is no node nowhere" in capsys.readouterr().err
    assert main(["explain", file, "--node", "gpu-c2"]) == 2


def test_scores_of_a_node_that_would_do(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(shop)
    file.write_text(NODES + pod("small", "1"))
    assert main(["explain", shop, "--pod", "shop/small", "--node", "north"]) == 0
    text = capsys.readouterr().out
    assert "On north nothing rejects it:" in text
    assert "NodeResourcesFit: (1*100*(" in text


def test_every_pod_of_the_clinic_has_a_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", CLINIC, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["pending"]) == 12
    assert all(each["lead"]["text"] for each in document["pending"])


def test_what_the_file_has_pending_and_the_run_binds_is_not_hidden(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sample = str(SAMPLES / "preemption-budget.yaml")
    assert main(["explain", sample]) == 0
    text = capsys.readouterr().out
    assert "pending in the file bind" in text
    assert "after evicting" in text
    assert main(["explain", sample, "--format", "json"]) == 0
    bound = json.loads(capsys.readouterr().out)["bound"]
    assert any(each["evicted"] for each in bound)


def test_what_the_file_lacks_is_said_beside_the_headline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "claims.yaml"
    mounts = "spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: d}}], "
    file.write_text(NODES + pod("data-0", "1").replace("spec: {", mounts, 1))
    assert main(["explain", str(file)]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "1 pod pending"
    assert second.startswith("This may be wrong: kviz read no PersistentVolumeClaim from the file")
    for asked in ([], ["--pod", "shop/data-0"]):
        assert main(["explain", str(file), "--format", "json", *asked]) == 0
        (absent,) = json.loads(capsys.readouterr().out)["incomplete"]
        assert (absent["kind"], absent["get"]) == (
            "PersistentVolumeClaim",
            "persistentvolumeclaims",
        )
        assert absent["needed_by"] == ["shop/data-0"]


def said(word: str, message: str) -> str:
    return (
        "status: {conditions: [{type: PodScheduled, status: 'False', "
        f"reason: {word}, message: '{message}'}}]}}\n"
    )


@pytest.mark.parametrize(
    ("cpu", "message", "because"),
    [
        ("64", "0/2 nodes are available: 2 Insufficient cpu.", None),
        ("64", "0/2 nodes are available: 2 node(s) were unschedulable.", "not known"),
        ("64", "0/2 nodes are available: 2 Insufficient memory.", "pods that are on nodes"),
        ("1", "0/2 nodes are available.", "names no reason"),
        (
            "64",
            "0/5 nodes are available: 5 Insufficient memory.",
            "counted 5 nodes, the file has 2",
        ),
        ("1", "0/2 nodes are available: 2 Insufficient cpu.", "pods that are on nodes"),
    ],
)
def test_what_the_cluster_said_is_compared_with_the_verdict(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    cpu: str,
    message: str,
    because: str | None,
) -> None:
    file = tmp_path / "said.yaml"
    file.write_text(NODES + pod("web", cpu) + said("Unschedulable", message))
    assert main(["explain", str(file), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert main(["explain", str(file), "--format", "json", "--pod", "shop/web"]) == 0
    alone = json.loads(capsys.readouterr().out)["cluster_says"]
    (of_run,) = (each["cluster_says"] for each in document["pending"] + document["bound"])
    assert of_run == alone
    assert (alone["verdict"], alone["message"]) == ("unschedulable", message)
    assert alone["agrees"] is (because is None)
    assert because is None or because in alone["because"]
    assert main(["explain", str(file)]) == 0
    assert ("Your cluster says:" in capsys.readouterr().out) is (because is not None)


def test_an_event_tells_what_the_cluster_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "events.yaml"
    event = (
        "---\n{apiVersion: v1, kind: Event, metadata: {name: web.1, namespace: shop}, "
        "involvedObject: {kind: Pod, name: web, namespace: shop}, reason: FailedScheduling, "
        "message: '0/5 nodes are available: 5 Insufficient memory.'}\n"
    )
    file.write_text(NODES + pod("web", "64") + event)
    assert main(["explain", str(file), "--format", "json"]) == 0
    (web,) = json.loads(capsys.readouterr().out)["pending"]
    assert web["cluster_says"]["because"].endswith("counted 5 nodes, the file has 2 nodes")
    assert main(["explain", str(file), "--change", "node/north cordon"]) == 0
    assert "Your cluster says" not in capsys.readouterr().out


def test_pods_of_which_the_file_tells_no_verdict_are_not_compared(
    shop: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", shop, "--format", "json"]) == 0
    assert [each["cluster_says"] for each in json.loads(capsys.readouterr().out)["pending"]] == [
        None
    ] * 3


BUG = """---
apiVersion: v1
kind: Pod
metadata: {name: there, namespace: other, labels: {app: a}}
spec: {nodeName: n, containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop}
spec:
  containers: [{name: c}]
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: {matchLabels: {app: a}}
        namespaceSelector: {matchExpressions: [{key: team, operator: NotIn, values: [a]}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: unlabelled}
---
apiVersion: v1
kind: Node
metadata: {name: n, labels: {kubernetes.io/hostname: n}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_bug_of_the_scheduler_is_named_without_a_pod_too(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bug.yaml"
    file.write_text(BUG)
    assert main(["explain", str(file), "--release", "1.36.2", "--format", form]) == 0
    assert "(a bug of Kubernetes v1.36.2, #141526)" in capsys.readouterr().out


def test_every_difference_in_a_whole_dump_has_a_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(DUMPS / "small.yaml.gz"), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    said = [each["cluster_says"] for each in document["pending"] + document["bound"]]
    told = [each for each in said if each is not None]
    assert told
    assert not [each for each in told if (each["because"] or "").startswith("not known")]


def test_a_daemon_set_whose_pod_is_evicted_is_not_able_to_place_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(
        cluster_text.node("n", "2", pods="9")
        + cluster_text.pod("agent-a", "1", owner=("DaemonSet", "agent"), nodeName="n")
        + cluster_text.pod("vip", "1500m", priority=9)
    )
    says = "DaemonSet default/agent will recreate default/agent-a on its node, and it will not fit"
    assert main(["explain", str(file)]) == 0
    assert f"as their owners would\n{says}\n" in capsys.readouterr().out
    assert main(["explain", str(file), "--recreate-evicted", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["afterwards"] == []


def test_a_pod_is_explained_by_its_last_cycle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, scenario = tmp_path / "cluster.yaml", tmp_path / "later.yaml"
    file.write_text(NODES + pod("web", "2", nodeSelector="{disk: ssd}"))
    scenario.write_text(
        "steps:\n- at: 1s\n  create:\n    apiVersion: v1\n    kind: Node\n"
        "    metadata: {name: small, labels: {disk: ssd}}\n"
        "    status: {allocatable: {cpu: '1', pods: '9'}}\n"
    )
    asked = ["explain", str(file), "--json"]
    assert main(asked) == 0
    (before,) = json.loads(capsys.readouterr().out)["pending"]
    assert main([*asked, "--scenario", str(scenario)]) == 0
    (after,) = json.loads(capsys.readouterr().out)["pending"]
    assert (before["cycle"], before["lead"]["plugin"]) == (1, "NodeAffinity")
    assert (after["cycle"], after["lead"]["plugin"]) == (2, "NodeResourcesFit")
