"""Rules: each kind kept and broken, what verdicts rest on, and what is refused in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scheduler_core.analysis.advice.rules import Verdict, check, load_rules
from scheduler_core.analysis.advice.survival import Standing, losses_of_nodes, standing_run
from scheduler_core.api import KubeObject
from scheduler_core.config import ConfigError
from scheduler_core.sim import RunOptions
from tests.builders import make_node, make_pod

PROBE = """{apiVersion: v1, kind: Pod, metadata: {name: probe},
  spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}"""


def cluster() -> list[KubeObject]:
    """Two zones of one node each; two pods of a service, one that is too big."""
    nodes = [make_node(f"n-{zone}").zone(zone).cpu(4).obj() for zone in "ab"]
    web = [
        make_pod(f"web-{i}").label("app", "web").owner("ReplicaSet", "web").cpu(1).on(f"n-{zone}")
        for i, zone in enumerate("ab")
    ]
    return [*nodes, *[pod.obj() for pod in web], make_pod("big").cpu(9).obj()]


def verdicts(rules: str, objects: Sequence[KubeObject]) -> tuple[Verdict, ...]:
    return check(load_rules(rules), objects, RunOptions())


def verdict(rule: str, objects: Sequence[KubeObject] | None = None) -> Verdict:
    (found,) = verdicts(f"- {rule}", cluster() if objects is None else objects)
    return found


def values(found: Verdict) -> dict[str, Any]:
    return dict(found.values)


def test_pods_bind() -> None:
    assert verdict("bind: {pods: {matchLabels: {app: web}}}").holds
    broken = verdict("bind: {pods: {namespace: default}}")
    assert not broken.holds
    assert broken.sentence == "1 of 3 pods without a node: default/big"
    assert "Insufficient cpu" in values(broken)["not_bound"][0]["message"]


def test_a_rule_about_pods_that_are_not_there_is_broken() -> None:
    for rule in ("bind: {pods: {name: x}}", "spread: {pods: {name: x}, over: zone, atLeast: 1}"):
        assert (verdict(rule).holds, verdict(rule).sentence) == (False, "No pod is selected")
    assert not verdict("survive: {pods: {name: x}, lossOf: node}").holds


def test_pods_are_spread() -> None:
    web = "pods: {matchLabels: {app: web}}, over: zone"
    kept = verdict(f"spread: {{{web}, atLeast: 2}}")
    assert kept.holds
    assert kept.values["pods_by_value"] == {"a": 1, "b": 1}
    assert not verdict(f"spread: {{{web}, atLeast: 3}}").holds


def test_pods_survive_a_loss() -> None:
    rule = "survive: {pods: {matchLabels: {app: web}}, lossOf: zone}"
    kept = verdict(rule)
    assert (kept.holds, kept.values["tried"]) == (True, 2)
    full = [*cluster(), make_pod("full").owner("ReplicaSet", "f").cpu(3).on("n-a").obj()]
    broken = verdict(rule, full)
    assert not broken.holds
    (lost,) = values(broken)["not_survived"]
    assert (lost["lost"], lost["nodes"], len(lost["pods"])) == ("b", 1, 1)
    assert lost["pods"][0]["pod"].startswith("default/web-")
    assert lost["pods"][0]["pod"] not in ("default/web-0", "default/web-1")
    assert lost["pods"][0]["message"].startswith("0/1 nodes are available")
    assert broken.sentence.startswith("1 of 2 losses leave pods without a node; worst b: 1 of 2")


def test_a_pod_that_nobody_makes_again_does_not_survive_its_node_and_a_daemon_goes_with_it() -> (
    None
):
    nodes = [make_node(f"n{i}").cpu(4).obj() for i in range(2)]
    alone = make_pod("alone").on("n0").obj()
    daemon = make_pod("agent").owner("DaemonSet", "agent").on("n0").obj()
    broken = verdict("survive: {pods: {}, lossOf: node}", [*nodes, alone, daemon])
    assert broken.values["bound"] == 1
    assert broken.values["not_survived"] == [
        {
            "lost": "n0",
            "nodes": 1,
            "pods": [{"pod": "default/alone", "message": "bare pod, no controller"}],
        }
    ]


def test_a_loss_comes_when_the_scheduler_has_done_what_it_can() -> None:
    """A pod that waits has its turn before the nodes go, and so takes what the lost would need."""
    nodes = [make_node(f"n{i}").cpu(4).obj() for i in range(2)]
    web = make_pod("web-1").label("app", "web").owner("ReplicaSet", "web").cpu(3).on("n0").obj()
    waiting = make_pod("waiting").cpu(3).obj()
    rule = "survive: {pods: {matchLabels: {app: web}}, lossOf: node}"
    assert verdict(rule, [*nodes, web]).holds
    broken = verdict(rule, [*nodes, web, waiting])
    assert [each["lost"] for each in values(broken)["not_survived"]] == ["n0"]
    survived = standing_run([*nodes, web, waiting], RunOptions())
    (loss,) = (each for each in losses_of_nodes(nodes) if each.name == "n0")
    (pending,) = Standing.before(survived).after(survived, loss).pending
    assert values(broken)["not_survived"][0]["pods"][0]["pod"] == pending.pod


def test_a_pod_that_is_evicted_for_one_that_comes_back_does_not_survive() -> None:
    """Also where none of the nodes that it is on is lost."""
    high = make_pod("high").owner("ReplicaSet", "high").priority(9).cpu(3).on("n0").obj()
    low = make_pod("low").label("app", "low").cpu(3).on("n1").obj()
    rule = "survive: {pods: {matchLabels: {app: low}}, lossOf: zone}"
    zoned = [make_node(f"n{i}").zone("ab"[i]).cpu(4).obj() for i in range(2)]
    broken = values(verdict(rule, [*zoned, high, low]))
    assert [each["lost"] for each in broken["not_survived"]] == ["a", "b"]
    assert {each["pods"][0]["message"] for each in broken["not_survived"]} == {
        "bare pod, no controller"
    }


def test_pods_stay_off_nodes() -> None:
    rule = "avoid: {pods: {matchLabels: {app: web}}, nodes: {name: %s}}"
    assert verdict(rule % "n-c").holds
    broken = verdict(rule % "n-a")
    assert broken.values["there"] == [{"pod": "default/web-0", "node": "n-a"}]
    assert not broken.holds


def test_nobody_of_rank_is_evicted() -> None:
    taken = make_pod("taken").cpu(4).priority(5).on("n0").obj()
    objects = [make_node("n0").cpu(4).obj(), taken, make_pod("a").cpu(3).priority(9).obj()]
    assert verdict("evict: {nobodyAbove: 5}", objects).holds
    broken = verdict("evict: {nobodyAbove: 4}", objects)
    assert broken.values["above"] == [{"pod": "default/taken", "priority": 5}]
    assert not broken.holds


def test_there_is_headroom() -> None:
    assert verdict(f"headroom: {{copies: 2, pod: {PROBE}}}").holds
    broken = verdict(f"headroom: {{copies: 3, pod: {PROBE}}}")
    assert (broken.holds, broken.values["fit"]) == (False, 2)
    assert broken.values["stopped_by"] == {"NodeResourcesFit": 2}


@pytest.mark.parametrize(
    ("rule", "holds", "requested", "allocatable"),
    [
        ("{resource: cpu, below: 26%}", True, 2000, 8000),
        ("{resource: cpu, below: 25%}", False, 2000, 8000),
        ("{resource: cpu, below: 30%, nodes: {name: n-a}}", True, 1000, 4000),
        ("{resource: nvidia.com/gpu, below: 30%}", False, 0, 0),
    ],
)
def test_resources_are_not_used_up(
    rule: str, holds: bool, requested: int, allocatable: int
) -> None:
    found = verdict(f"utilisation: {rule}")
    assert found.holds is holds
    assert (found.values["requested"], found.values["allocatable"]) == (requested, allocatable)


def test_rules_have_names() -> None:
    rules = "rules:\n- {name: web, bind: {pods: {name: web-0}}}\n- evict: {nobodyAbove: 0}\n"
    assert [each.rule for each in verdicts(rules, cluster())] == ["web", "rule 2: evict"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Required value: a list of rules"),
        ("rules: []", "line 1: rules: Required value: a list of rules"),
        ("- {}", "[0]: expected one of bind, spread"),
        ("- {bind: {pods: {}}, evict: {nobodyAbove: 1}}", "got bind and evict"),
        ("- bind: {pods: {matchLabel: {a: b}}}", '[0].bind.pods.matchLabel: unknown field "match'),
        ("- bind: {}", "[0].bind.pods: Required value"),
        ("- spread: {pods: {}, over: zone, atLeast: 0}", "atLeast: Invalid value: 0"),
        ("- spread: {pods: {}, atLeast: 1}", "[0].spread.over: Required value"),
        ("- avoid: {pods: {}}", "[0].avoid.nodes: Required value"),
        ("- evict: {}", "[0].evict.nobodyAbove: Required value"),
        ("- headroom: {copies: 1}", "[0].headroom.pod: Required value"),
        ("- headroom: {copies: 1, pod: {apiVersion: v1, kind: Node}}", "[0].headroom.pod"),
        ("- utilisation: {resource: cpu, below: '80'}", 'below: Invalid value: "80"'),
        ("- utilisation: {below: 80%}", "[0].utilisation.resource: Required value"),
        (
            "- bind: {pods: {matchExpressions: [{key: a, operator: Is}]}}",
            '"Is" is not a valid label selector operator',
        ),
    ],
)
def test_what_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_rules(text)
    assert problem in str(refused.value)
