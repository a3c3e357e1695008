"""Claims in the simulated cluster: made from templates, freed, deleted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scheduler_core.api import (
    KubeObject,
    ObjectMeta,
    Pod,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from scheduler_core.config import load_configuration
from scheduler_core.sim import RunOptions, load_scenario
from scheduler_core.sim.run import Run
from scheduler_core.trace.events import (
    AnyEvent,
    CycleStarted,
    DevicesAllocated,
    EventRecorded,
    RunStarted,
)
from tests.builders import make_node, make_pod
from tests.devices.factories import claim, device, device_class, exactly, resource_slice

NODE = make_node("n1").cpu(8).obj()
GPU = resource_slice("s", device("g0"), node="n1")


def claiming(name: str, *, of: str = "", made_from: str = "") -> Pod:
    use = PodResourceClaim(
        name="gpu", resource_claim_name=of, resource_claim_template_name=made_from
    )
    return make_pod(name).spec(resource_claims=(use,)).obj()


def template() -> ResourceClaimTemplate:
    return ResourceClaimTemplate(
        metadata=ObjectMeta(name="one", namespace="default", uid="one"),
        spec=ResourceClaimTemplateSpec(
            spec=ResourceClaimSpec(devices=claim("x", exactly()).spec.devices)
        ),
    )


def play(scenario: str, *objects: KubeObject) -> tuple[Run, list[AnyEvent]]:
    options = RunOptions(scenario=load_scenario(scenario))
    run = Run([NODE, device_class(), GPU, *objects], options)
    return run, list(run.events())


def claims(run: Run) -> list[ResourceClaim]:
    return list(run.simulation.server.all(ResourceClaim))


def allocations(trace: Sequence[AnyEvent]) -> list[tuple[str, str]]:
    return [
        (event.claim, device.device)
        for event in trace
        if isinstance(event, DevicesAllocated)
        for device in event.devices
    ]


def test_a_pod_gets_a_claim_of_its_own_from_the_template() -> None:
    run, trace = play("steps: []", template(), claiming("p", made_from="one"))
    [made] = claims(run)
    assert made.name.startswith("p-gpu-")
    assert made.metadata.owner_references[0].uid == "default/p"
    assert [user.name for user in made.status.reserved_for] == ["p"]
    assert allocations(trace) == [(made.key, "g0")]
    pod = run.simulation.server.get(Pod, "default/p")
    assert pod is not None
    assert pod.spec.node_name == "n1"
    assert pod.status.resource_claim_statuses[0].resource_claim_name == made.name


def test_a_template_that_comes_late_serves_the_pods_that_wait() -> None:
    late = """\
    steps:
    - at: 5s
      create:
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: one, namespace: default}
        spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
    """
    run, trace = play(late, claiming("p", made_from="one"))
    assert len(allocations(trace)) == 1
    assert len(claims(run)) == 1


def test_a_deleted_pod_takes_its_made_claim_along_and_the_next_gets_the_device() -> None:
    delete = """\
    steps:
    - at: 10s
      delete: {kind: Pod, name: p, gracePeriodSeconds: 0}
    """
    pods = [claiming("p", made_from="one"), claiming("q", made_from="one")]
    run, trace = play(delete, template(), *pods)
    [left] = claims(run)
    assert left.name.startswith("q-gpu-")
    assert [device for _, device in allocations(trace)] == ["g0", "g0"]


def test_a_shared_claim_is_freed_with_its_last_user() -> None:
    delete = """\
    steps:
    - at: 10s
      delete: {kind: Pod, name: p, gracePeriodSeconds: 0}
    - at: 20s
      delete: {kind: Pod, name: q, gracePeriodSeconds: 0}
    - at: 30s
      create:
        apiVersion: v1
        kind: Pod
        metadata: {name: other, namespace: default}
        spec: {containers: [{name: c}]}
    """
    shared = claim("c", exactly())
    run, trace = play(delete, shared, claiming("p", of="c"), claiming("q", of="c"))
    [freed] = claims(run)
    assert freed.status.allocation is None
    assert freed.status.reserved_for == ()
    assert freed.metadata.finalizers == ()
    before = [e.allocated_before for e in trace if isinstance(e, DevicesAllocated)]
    assert before == [False, True]


def test_a_claim_in_use_is_deleted_only_when_its_user_is() -> None:
    delete = """\
    steps:
    - at: 10s
      delete: {kind: ResourceClaim, name: c}
    - at: 20s
      delete: {kind: Pod, name: p, gracePeriodSeconds: 0}
    """
    run, _ = play(
        delete[: delete.index("- at: 20s")].rstrip() + "\n", claim("c"), claiming("p", of="c")
    )
    [leaving] = claims(run)
    assert leaving.metadata.deletion_timestamp is not None
    run, _ = play(delete, claim("c"), claiming("p", of="c"))
    assert claims(run) == []


def test_a_pod_says_which_claim_serves_its_extended_resources() -> None:
    backed = device_class("big", extended="example.com/gpu")
    wanting = make_pod("p").request("example.com/gpu", "1").obj()
    run, trace = play("steps: []", backed, wanting)
    [made] = claims(run)
    pod = run.simulation.server.get(Pod, "default/p")
    assert pod is not None
    assert pod.spec.node_name == "n1"
    told = pod.status.extended_resource_claim_status
    assert told is not None
    assert told.resource_claim_name == made.name
    assert [each.container_name for each in told.request_mappings] == ["c"]
    assert sum(isinstance(event, CycleStarted) for event in trace) == 1


def test_devices_that_have_to_get_ready_are_waited_for_and_reported() -> None:
    slow = resource_slice("slow", device("g1", binding_conditions=("Attached",)), node="n1")
    objects = [NODE, device_class(), slow, claim("c", exactly()), claiming("p", of="c")]
    trace = list(Run(objects, RunOptions()).events())
    [told] = [e.message for e in trace if isinstance(e, EventRecorded) if e.reason != "Scheduled"]
    assert told == "waiting for binding conditions for device on node n1"
    assert not_modelled(trace) == (
        "how long drivers take to meet binding conditions (none here), in 1 ResourceSlice: slow",
    )


@pytest.mark.parametrize(
    ("timeout", "objects", "reported"),
    [
        ("2s", [NODE, GPU], ["filterTimeout 2s of DynamicResources"]),
        ("0s", [NODE, GPU], ["filterTimeout 0s of DynamicResources"]),
        ("10s", [NODE, GPU], []),
        ("2s", [NODE], []),
    ],
)
def test_a_limit_of_wall_time_is_reported_where_there_are_devices(
    timeout: str, objects: list[KubeObject], reported: list[str]
) -> None:
    configuration = load_configuration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- pluginConfig:\n  - name: DynamicResources\n"
        f"    args: {{filterTimeout: {timeout}}}\n"
    )
    trace = list(Run(objects, RunOptions(configuration=configuration)).events())
    assert [text.partition(":")[0] for text in not_modelled(trace)] == reported


def not_modelled(trace: Sequence[AnyEvent]) -> tuple[str, ...]:
    started = trace[0]
    assert isinstance(started, RunStarted)
    return started.not_modelled
