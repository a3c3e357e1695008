"""What the replay of a recorded dump makes of pods: it leaves the cluster as the real one was."""

from __future__ import annotations

from kviz.conformance.dump import BOUND, RecordedAttempt
from kviz.conformance.dump_replay import DumpReplay
from scheduler_core.api import PersistentVolumeClaim
from scheduler_core.releases import UNNAMED
from tests.builders import make_node, make_pod
from tests.plugins import storage
from tests.plugins.placement import HOST

NODE = make_node("n").label(HOST, "n").cpu(4).obj()
ATTEMPT = RecordedAttempt(pod="default/p", order=0, result=BOUND, node="n")


def test_a_pod_that_binds_volumes_is_bound_and_no_longer_nominated() -> None:
    """PreBind has work, so the scheduler names the node before; the API server clears it."""
    volume = storage.volume("v", hosts=["n"])
    pod = make_pod("p").volumes(*storage.uses("c")).obj()
    replay = DumpReplay(
        [NODE, storage.storage_class(), volume, storage.claim("c"), pod], [ATTEMPT], UNNAMED
    )
    assert replay.attempt(ATTEMPT) is not None
    placed, claim = (
        replay.pod(pod.key),
        replay.simulation.server.get(PersistentVolumeClaim, "default/c"),
    )
    assert placed is not None
    assert claim is not None
    assert (placed.spec.node_name, placed.status.nominated_node_name) == ("n", "")
    assert claim.spec.volume_name == "v"


def test_a_pod_that_is_put_where_the_recording_has_it_is_bound_as_by_the_api_server() -> None:
    pod = make_pod("p").cpu(9).nominated("n").obj()
    replay = DumpReplay([NODE, pod], [ATTEMPT], UNNAMED)
    replay.attempt(ATTEMPT)
    replay.keep_in_step(ATTEMPT)
    placed = replay.pod(pod.key)
    assert placed is not None
    assert (placed.spec.node_name, placed.status.nominated_node_name) == ("n", "")
    assert [(c.type, c.status) for c in placed.status.conditions] == [("PodScheduled", "True")]
