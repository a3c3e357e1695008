"""Playing scenarios: what each action does to the cluster, and what its flag says."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from builders import make_node, make_pod
from msgspec.structs import replace

from scheduler_core.api import (
    KubeObject,
    ObjectMeta,
    Pod,
    PodResourceClaim,
    PriorityClass,
    ReplicaSet,
)
from scheduler_core.api.meta import OwnerReference
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.sim.scenario import load_scenario
from scheduler_core.sim.simulation import Simulation
from scheduler_core.trace.events import (
    AnyEvent,
    ClockAdvanced,
    PodEvicted,
    RunFinished,
    RunStarted,
    ScenarioStepped,
)

SECOND_NS = 1_000_000_000


@dataclass
class Played:
    """A run that is over."""

    simulation: Simulation
    trace: list[AnyEvent]

    @property
    def flags(self) -> list[str]:
        return [event.text for event in self.trace if isinstance(event, ScenarioStepped)]

    @property
    def places(self) -> dict[str, str]:
        return {pod.name: pod.spec.node_name for pod in self.simulation.server.all(Pod)}

    def pod(self, name: str) -> Pod:
        found = self.simulation.server.get(Pod, f"default/{name}")
        assert found is not None
        return found

    def evicted(self) -> list[str]:
        return [event.reason for event in self.trace if isinstance(event, PodEvicted)]

    @property
    def seconds(self) -> float:
        (started,) = (event for event in self.trace if isinstance(event, RunStarted))
        clock = [event.now_ns for event in self.trace if isinstance(event, ClockAdvanced)]
        return (max(clock, default=started.now_ns) - started.now_ns) / SECOND_NS

    @property
    def finished(self) -> RunFinished:
        last = self.trace[-1]
        assert isinstance(last, RunFinished)
        return last


def play(scenario: str, *objects: KubeObject, **options: object) -> Played:
    loaded = load_scenario(textwrap.dedent(scenario))
    run = Run(objects, RunOptions(scenario=loaded, **options))  # type: ignore[arg-type]
    return Played(run.simulation, list(run.events()))


def owned(owner: str, *names: str, kind: str = "ReplicaSet", node: str = "n") -> Sequence[Pod]:
    return [
        make_pod(name).owner(kind, owner).cpu("500m").grace_seconds(1).on(node).obj()
        for name in names
    ]


NODE = make_node("n").obj()
OTHER = make_node("m").obj()


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
    assert played.flags == ["Create Pod default/late"]
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
    assert played.flags == ["A crowd (Create 12 Pods)"]


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


@pytest.mark.parametrize(
    ("step", "flag"),
    [
        (
            "create: {apiVersion: v1, kind: Pod, metadata: {name: p},"
            " spec: {priorityClassName: none, containers: [{name: c}]}}",
            "Create Pod default/p: forbidden, no PriorityClass with name none was found",
        ),
        (
            "create: {apiVersion: v1, kind: Node, metadata: {name: n}}",
            'Create Node n: refused, "n" already exists',
        ),
        ("delete: {kind: Pod, name: p}", "Delete Pod default/p: there is none"),
        ("patch: {kind: Node, name: x, merge: {spec: {}}}", "Patch Node x: there is none"),
        (
            "patch: {kind: Node, name: n, merge: {metadata: {name: x}}}",
            "Patch Node n: refused, metadata.name, namespace and uid cannot change",
        ),
        (
            "patch: {kind: Pod, name: bound, merge: {spec: {nodeName: m}}}",
            "Patch Pod default/bound: refused, the pod is bound to n",
        ),
        (
            "patch: {kind: Pod, name: bound,"
            " merge: {metadata: {deletionTimestamp: 2026-01-01T00:00:00Z}}}",
            "Patch Pod default/bound: refused, metadata.deletionTimestamp cannot be set: use "
            "delete",
        ),
        ("cordon: x", "Cordon Node x: there is none"),
        ("drain: x", "Drain Node x: there is none"),
        (
            "taint: {node: x, key: k, effect: NoSchedule}",
            "Taint Node x k:NoSchedule: there is none",
        ),
        ("untaint: {node: n, key: k}", "Untaint Node n k: there is no such taint"),
        (
            "scale: {kind: ReplicaSet, name: web, replicas: 3}",
            "Scale ReplicaSet default/web: it has no pod to copy",
        ),
    ],
)
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
    assert played.flags == ["Patch Pod default/p: metadata.labels.a, spec.schedulingGates"]
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
    assert played.flags == ["Cordon Node n", "Uncordon Node n"]
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
    assert played.flags == ["Drain Node n: evict 2 pods; 2 of its own stay"]
    assert played.evicted() == ["drain of n", "drain of n"]
    assert list(played.places) == ["agent-1", "static-n"]
    assert played.simulation.scheduler.cache.columns.nodes[0].spec.unschedulable


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
        "Taint Node n k=a:NoSchedule",
        "Taint Node n k=b:NoSchedule",
        "Taint Node n k:NoExecute",
        "Untaint Node n k:NoSchedule",
    ]
    node = played.simulation.scheduler.cache.columns.nodes[0]
    assert [(taint.key, taint.effect) for taint in node.spec.taints] == [("k", "NoExecute")]


# ---------------------------------------------------------------- workloads


def test_scaling_up_copies_a_pod() -> None:
    played = play(
        "steps: [{at: 1s, scale: {kind: ReplicaSet, name: web, replicas: 4}}]",
        NODE,
        *owned("web", "web-1", "web-2"),
    )
    assert played.flags == ["Scale ReplicaSet default/web from 2 to 4"]
    fresh = [name for name in played.places if name not in ("web-1", "web-2")]
    assert len(fresh) == 2
    assert all(name.startswith("web-") and len(name) == 9 for name in fresh)
    assert set(played.places.values()) == {"n"}
    assert played.pod(fresh[0]).spec.containers == played.pod("web-1").spec.containers


def test_scaling_down_gives_up_the_least_useful() -> None:
    played = play(
        "steps: [{at: 1s, scale: {kind: ReplicaSet, name: web, replicas: 2}}]",
        NODE,
        *owned("web", "old", "newer", "newest"),
        make_pod("homeless").owner("ReplicaSet", "web").cpu(400).obj(),
    )
    assert played.flags == ["Scale ReplicaSet default/web from 4 to 2"]
    assert list(played.places) == ["old", "newer"]


def test_a_stateful_set_counts() -> None:
    played = play(
        """\
        steps:
        - {at: 1s, scale: {kind: StatefulSet, name: db, replicas: 1}}
        - {at: 10s, scale: {kind: StatefulSet, name: db, replicas: 3}}
        """,
        NODE,
        *owned("db", "db-0", "db-1", "db-2", kind="StatefulSet"),
    )
    assert list(played.places) == ["db-0", "db-1", "db-2"]
    assert played.pod("db-1").uid != "default/db-1"


def test_a_deployment_is_found_through_its_replica_sets() -> None:
    owner = OwnerReference(kind="Deployment", name="web", controller=True)
    replica_set = ReplicaSet(
        metadata=ObjectMeta(name="web-5c9", namespace="default", owner_references=(owner,))
    )
    played = play(
        "steps: [{at: 1s, scale: {kind: Deployment, name: web, replicas: 0}}]",
        NODE,
        replica_set,
        *owned("web-5c9", "web-5c9-a", "web-5c9-b"),
        *owned("other", "other-a"),
    )
    assert played.flags == ["Scale Deployment default/web from 2 to 0"]
    assert list(played.places) == ["other-a"]


RECREATE = "options: {recreateEvicted: true}\n"


def test_owners_make_lost_pods_anew() -> None:
    played = play(
        RECREATE + "steps: [{at: 1s, drain: n}]",
        NODE,
        OTHER,
        *owned("web", "web-1"),
        *owned("db", "db-0", kind="StatefulSet"),
        make_pod("alone").grace_seconds(1).on("n").obj(),
    )
    names = list(played.places)
    assert "alone" not in names
    assert "web-1" not in names
    assert "db-0" in names, "a StatefulSet keeps its names"
    assert played.pod("db-0").uid != "default/db-0"
    assert set(played.places.values()) == {"m"}


def test_a_stateful_set_waits_until_its_pod_is_gone() -> None:
    played = play(
        RECREATE + "until: 1.5s\nsteps: [{at: 1s, drain: n}]",
        NODE,
        OTHER,
        *owned("db", "db-0", kind="StatefulSet"),
    )
    assert played.places == {"db-0": "n"}
    assert played.pod("db-0").metadata.deletion_timestamp is not None


def test_pods_that_were_scaled_away_stay_away() -> None:
    played = play(
        RECREATE + "steps: [{at: 1s, scale: {kind: ReplicaSet, name: web, replicas: 1}}]",
        NODE,
        *owned("web", "web-1", "web-2", "web-3"),
    )
    assert list(played.places) == ["web-1"]


def test_pods_of_a_lost_node_are_made_anew_elsewhere() -> None:
    played = play(
        RECREATE + "steps: [{at: 1s, delete: {kind: Node, name: n}}]",
        NODE,
        OTHER,
        *owned("web", "web-1", "web-2"),
        *owned("agent", "agent-1", kind="DaemonSet"),
    )
    assert sorted(played.places.values()) == ["m", "m"]


def test_finished_pods_are_not_made_anew() -> None:
    done = make_pod("job-1").owner("Job", "job").on("n").phase("Succeeded").obj()
    played = play(RECREATE + "steps: [{at: 1s, delete: {kind: Pod, name: job-1}}]", NODE, done)
    assert played.places == {}


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


# ---------------------------------------------------------------- what comes in at the start


def test_initial_pods_get_the_priority_of_their_class() -> None:
    high = PriorityClass(metadata=ObjectMeta(name="high"), value=50)
    played = play("steps: []", high, NODE, make_pod("p").priority_class("high").obj())
    assert played.pod("p").spec.priority == 50


def test_features_that_are_not_modelled_are_reported() -> None:
    claiming = make_pod("p").obj()
    spec = replace(claiming.spec, resource_claims=(PodResourceClaim(name="gpu"),))
    played = play(
        """\
        steps:
        - at: 1s
          create:
            apiVersion: v1
            kind: Pod
            metadata: {name: q}
            spec: {containers: [{name: c}], resourceClaims: [{name: gpu}]}
        """,
        NODE,
        replace(claiming, spec=spec),
    )
    (started,) = (event for event in played.trace if isinstance(event, RunStarted))
    assert started.not_modelled == ("resource claims of 2 pods: p, q",)


def test_an_initial_pod_of_an_unknown_class_is_reported() -> None:
    played = play("steps: []", NODE, make_pod("p").priority_class("none").obj())
    (started,) = (event for event in played.trace if isinstance(event, RunStarted))
    assert started.not_modelled == (
        "Pod default/p: no PriorityClass with name none was found; its priority counts as 0",
    )
    assert played.places == {"p": "n"}
