"""Playing scenarios: what each action does to the cluster, and what its flag says."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler_core.api import ObjectMeta, PodSchedulingGroup, PriorityClass
from scheduler_core.trace.events import Bound, Forgotten, NominationChanged, RunStarted
from scheduler_core.trace.records import NONE
from tests.builders import make_node, make_pod
from tests.sim.played import NODE, owned, play
from tests.tables import rows

# ---------------------------------------------------------------- objects


def test_created_pods_are_scheduled_when_their_time_comes() -> None:
    played = play(
        """\
        steps:
        - at: 10s
          create:
            {apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {containers: [{name: c}]}}
        """,
        NODE,
        make_pod("early").obj(),
    )
    assert played.places == {"early": "n", "late": "n"}
    assert played.flags == ["Create pod default/late"]
    assert played.seconds == pytest.approx(11.002)


def test_copies_are_numbered() -> None:
    played = play(
        """\
        steps:
        - at: 0s
          note: A crowd
          create: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}
          copies: 12
        """,
        NODE,
    )
    assert list(played.places) == [f"p-{i}" for i in range(1, 13)]
    assert played.flags == ["A crowd (create 12 pods)"]


def test_a_step_at_the_start_comes_before_the_first_attempt() -> None:
    played = play("steps: [{at: 0s, cordon: n}]", NODE, make_pod("p").obj())
    assert played.places == {"p": ""}


def test_creation_passes_admission() -> None:
    played = play(
        """\
        steps:
        - at: 0s
          create:
          - apiVersion: scheduling.k8s.io/v1
            kind: PriorityClass
            metadata: {name: high}
            value: 1000
        - at: 1s
          create:
            apiVersion: v1
            kind: Pod
            metadata: {name: p, labels: {version: "2"}}
            spec:
              priorityClassName: high
              containers: [{name: c}]
              topologySpreadConstraints:
              - maxSkew: 1
                topologyKey: zone
                whenUnsatisfiable: ScheduleAnyway
                labelSelector: {}
                matchLabelKeys: [version]
        """,
        NODE,
    )
    pod = played.pod("p")
    assert pod.spec.priority == 1000
    selector = pod.spec.topology_spread_constraints[0].label_selector
    assert selector is not None
    assert [(e.key, e.operator, e.values) for e in selector.match_expressions] == [
        ("version", "In", ("2",))
    ]


@pytest.mark.parametrize(("step", "flag"), rows(__file__, "steps_that_cannot_be_done"))
def test_a_step_that_cannot_be_done_says_why_and_changes_nothing(step: str, flag: str) -> None:
    bound = make_pod("bound").on("n").obj()
    played = play(f"steps:\n- at: 1s\n  {step}\n", NODE, bound)
    assert played.flags == [flag]
    assert played.places == {"bound": "n"}
    assert played.pod("bound").spec == play("steps: []", NODE, bound).pod("bound").spec


def test_a_patch_names_the_fields_it_touches() -> None:
    played = play(
        "steps: [{at: 1s, patch: {kind: Pod, name: p, merge: {metadata: {labels: {a: b}}, "
        "spec: {schedulingGates: null}}}}]",
        NODE,
        make_pod("p").gate("g").obj(),
    )
    assert played.flags == ["Patch pod default/p: metadata.labels.a, spec.schedulingGates"]
    assert played.places == {"p": "n"}


def test_a_patched_phase_finishes_a_pod() -> None:
    played = play(
        "steps: [{at: 5s, patch: {kind: Pod, name: a, merge: {status: {phase: Succeeded}}}}]",
        NODE,
        make_pod("a").cpu(4).on("n").obj(),
        make_pod("b").cpu(4).obj(),
    )
    assert played.places == {"a": "n", "b": "n"}


def test_setting_the_node_binds_a_pod() -> None:
    played = play(
        "steps: [{at: 0s, patch: {kind: Pod, name: p, merge: {spec: {nodeName: n}}}}]",
        NODE,
        make_pod("p").cpu(400).obj(),
    )
    assert played.places == {"p": "n"}
    assert played.finished.n_cycles == 0


def test_whoever_binds_a_pod_its_nomination_is_cleared() -> None:
    """Another scheduler binds `p` while its victim terminates on the node it is nominated to."""
    played = play(
        "steps: [{at: 1s, patch: {kind: Pod, name: p, merge: {spec: {nodeName: m}}}}]",
        NODE,
        make_node("m").cpu(1).obj(),
        make_pod("victim").cpu(4).on("n").obj(),
        make_pod("p").cpu(4).priority(9).obj(),
    )
    nominations = [event for event in played.trace if isinstance(event, NominationChanged)]
    assert [event.node for event in nominations] == [0, NONE]
    pod = played.pod("p")
    assert (pod.spec.node_name, pod.status.nominated_node_name) == ("m", "")
    assert [(c.type, c.status) for c in pod.status.conditions] == [("PodScheduled", "True")]


def test_a_pod_that_is_created_again_is_another_one() -> None:
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}"
    played = play(
        f"""\
        steps:
        - {{at: 1s, create: {pod}}}
        - {{at: 5s, delete: {{kind: Pod, name: p, gracePeriodSeconds: 0}}}}
        - {{at: 5s, create: {pod}}}
        """,
        NODE,
    )
    assert played.places == {"p": "n"}
    assert played.pod("p").uid == "default/p#2"


# ---------------------------------------------------------------- nodes


def test_cordon_and_uncordon() -> None:
    played = play("steps: [{at: 0s, cordon: n}, {at: 10s, uncordon: n}]", NODE, make_pod("p").obj())
    assert played.flags == ["Cordon node n", "Uncordon node n"]
    assert played.places == {"p": "n"}
    assert played.seconds > 10


def test_a_drain_leaves_what_belongs_to_the_node() -> None:
    played = play(
        "steps: [{at: 1s, drain: n}]",
        NODE,
        *owned("web", "web-1", "web-2"),
        *owned("agent", "agent-1", kind="DaemonSet"),
        *owned("n", "static-n", kind="Node"),
    )
    assert played.flags == ["Drain node n: evict 2 pods; 2 of its pods stay"]
    assert played.evicted() == ["drain of n", "drain of n"]
    assert list(played.places) == ["agent-1", "static-n"]
    node = played.simulation.scheduler.cache.columns.nodes[0]
    assert node is not None
    assert node.spec.unschedulable


def test_taints_replace_their_like() -> None:
    played = play(
        """\
        steps:
        - {at: 1s, taint: {node: n, key: k, value: a, effect: NoSchedule}}
        - {at: 2s, taint: {node: n, key: k, value: b, effect: NoSchedule}}
        - {at: 3s, taint: {node: n, key: k, effect: NoExecute}}
        - {at: 4s, untaint: {node: n, key: k, effect: NoSchedule}}
        """,
        NODE,
    )
    assert played.flags == [
        "Taint node n k=a:NoSchedule",
        "Taint node n k=b:NoSchedule",
        "Taint node n k:NoExecute",
        "Untaint node n k:NoSchedule",
    ]
    node = played.simulation.scheduler.cache.columns.nodes[0]
    assert node is not None
    assert [(taint.key, taint.effect) for taint in node.spec.taints] == [("k", "NoExecute")]


# ---------------------------------------------------------------- time and options


def test_until_goes_on_past_the_five_minute_flush() -> None:
    played = play("until: 12m", NODE, make_pod("giant").cpu(400).obj())
    assert played.seconds == 720
    assert played.finished.n_cycles == 3
    assert played.finished.reason == ""


def test_until_ends_what_would_go_on() -> None:
    played = play(
        "until: 3s\noptions: {attempt: 1s}",
        NODE,
        *(make_pod(f"p{i}").obj() for i in range(10)),
    )
    assert played.seconds == 3
    assert played.finished.n_cycles == 3
    assert played.finished.n_pending > 0


def test_steps_far_apart_do_not_exhaust_patience() -> None:
    played = play(
        "steps: [{at: 1h, uncordon: n}, {at: 3h, cordon: n}]",
        make_node("n").cordoned().obj(),
        make_pod("p").obj(),
    )
    assert played.places == {"p": "n"}
    assert played.seconds == 3 * 3600


def test_options_set_the_pace() -> None:
    played = play("options: {attempt: 10ms, binding: 1s, podStart: 5s}", NODE, make_pod("p").obj())
    assert played.seconds == 6
    assert played.pod("p").status.phase == "Running"


def test_a_cluster_without_kubelets() -> None:
    played = play(
        "options: {kubelet: false}\nsteps: [{at: 5s, taint: {node: n, key: k, effect: NoExecute}}]",
        NODE,
        make_pod("p").obj(),
    )
    assert played.places == {"p": "n"}
    assert played.pod("p").status.phase == "Pending"


def test_a_pod_that_ends_while_it_is_being_bound_leaves_its_node_in_the_trace() -> None:
    played = play(
        """\
        steps:
        - at: 1ms
          patch: {kind: Pod, name: p, merge: {status: {phase: Failed}}}
        """,
        NODE,
        make_pod("p").obj(),
    )
    (forgotten,) = (event for event in played.trace if isinstance(event, Forgotten))
    (bound,) = (event for event in played.trace if isinstance(event, Bound))
    assert played.trace.index(forgotten) < played.trace.index(bound)


# ---------------------------------------------------------------- what comes in at the start


def test_initial_pods_get_the_priority_of_their_class() -> None:
    high = PriorityClass(metadata=ObjectMeta(name="high"), value=50)
    played = play("steps: []", high, NODE, make_pod("p").priority_class("high").obj())
    assert played.pod("p").spec.priority == 50


def test_features_that_are_not_modelled_are_reported() -> None:
    grouped = make_pod("p").obj()
    spec = replace(grouped.spec, scheduling_group=PodSchedulingGroup(pod_group_name="gang"))
    played = play(
        """\
        steps:
        - at: 1s
          create:
            apiVersion: resource.k8s.io/v1
            kind: DeviceClass
            metadata: {name: near}
            spec: {selectors: [{cel: {expression: 'ip(device.driver).family() == 4'}}]}
        """,
        NODE,
        replace(grouped, spec=spec),
    )
    (started,) = (event for event in played.trace if isinstance(event, RunStarted))
    assert started.not_modelled == (
        "scheduling groups (gangs) of 1 pod: default/p",
        "CEL functions of device selectors: ip; such a selector ends in an error",
    )


def test_an_initial_pod_of_an_unknown_class_is_reported() -> None:
    played = play("steps: []", NODE, make_pod("p").priority_class("none").obj())
    (started,) = (event for event in played.trace if isinstance(event, RunStarted))
    assert started.not_modelled == (
        "Pod default/p: no PriorityClass with name none was found; its priority counts as 0",
    )
    assert played.places == {"p": "n"}
