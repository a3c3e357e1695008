"""Playing scenarios: owners that get more pods, fewer, or lost ones back."""

from __future__ import annotations

from scheduler_core.api import ObjectMeta, ReplicaSet
from scheduler_core.api.meta import OwnerReference
from tests.builders import make_pod
from tests.sim.played import NODE, OTHER, owned, play


def test_scaling_up_copies_a_pod() -> None:
    played = play(
        "steps: [{at: 1s, scale: {kind: ReplicaSet, name: web, replicas: 4}}]",
        NODE,
        *owned("web", "web-1", "web-2"),
    )
    assert played.flags == ["Scale replicaset default/web from 2 to 4"]
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
    assert played.flags == ["Scale replicaset default/web from 4 to 2"]
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
    assert played.flags == ["Scale deployment default/web from 2 to 0"]
    assert list(played.places) == ["other-a"]


RECREATE = "options: {recreateEvicted: true}\n"


def test_owners_recreate_lost_pods() -> None:
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


def test_pods_of_a_lost_node_are_recreated_elsewhere() -> None:
    played = play(
        RECREATE + "steps: [{at: 1s, delete: {kind: Node, name: n}}]",
        NODE,
        OTHER,
        *owned("web", "web-1", "web-2"),
        *owned("agent", "agent-1", kind="DaemonSet"),
    )
    assert sorted(played.places.values()) == ["m", "m"]


def test_finished_pods_are_not_recreated() -> None:
    done = make_pod("job-1").owner("Job", "job").on("n").phase("Succeeded").obj()
    played = play(RECREATE + "steps: [{at: 1s, delete: {kind: Pod, name: job-1}}]", NODE, done)
    assert played.places == {}


def test_a_daemon_set_recreates_its_pod_on_the_same_node_when_the_old_one_is_gone() -> None:
    played = play(
        RECREATE + "steps: [{at: 1s, delete: {kind: Pod, name: agent-1}}]",
        NODE,
        OTHER,
        *owned("agent", "agent-1", kind="DaemonSet"),
    )
    assert "agent-1" not in played.places
    assert list(played.places.values()) == ["n"]
