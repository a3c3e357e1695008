"""The decoder of `0/N nodes are available` messages."""

from kviz.runs.reading.decoder import decode
from kviz.runs.reading.projection import StatusDocument

TAINTED = StatusDocument(
    code="UnschedulableAndUnresolvable",
    plugin="TaintToleration",
    reasons=["node(s) had untolerated taint(s)"],
)
FULL = StatusDocument(
    code="Unschedulable",
    plugin="NodeResourcesFit",
    reasons=["Insufficient cpu", "Insufficient nvidia.com/gpu"],
)
TOO_SMALL = StatusDocument(
    code="UnschedulableAndUnresolvable", plugin="NodeResourcesFit", reasons=["Insufficient memory"]
)


def test_every_clause_names_its_nodes() -> None:
    message = (
        "0/4 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), "
        "2 Insufficient cpu, 2 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: "
        "2 No preemption victims found for incoming pod, "
        "2 Preemption is not helpful for scheduling."
    )
    rejected = {"gpu-1": FULL, "gpu-2": FULL, "control": TAINTED, "tiny": TOO_SMALL}
    decoded = decode(message, rejected)
    assert decoded is not None
    assert decoded.n_nodes == 4
    assert [(c.count, c.reason, c.plugin, c.nodes) for c in decoded.clauses] == [
        (1, "Insufficient memory", "NodeResourcesFit", ["tiny"]),
        (1, "node(s) had untolerated taint(s)", "TaintToleration", ["control"]),
        (2, "Insufficient cpu", "NodeResourcesFit", ["gpu-1", "gpu-2"]),
        (2, "Insufficient nvidia.com/gpu", "NodeResourcesFit", ["gpu-1", "gpu-2"]),
    ]
    assert [(c.count, c.plugin) for c in decoded.preemption] == [
        (2, "DefaultPreemption"),
        (2, "DefaultPreemption"),
    ]


def test_the_same_words_can_mean_full_or_too_small() -> None:
    small = TOO_SMALL | {"reasons": ["Insufficient cpu"]}
    decoded = decode("0/2 nodes are available: 2 Insufficient cpu.", {"a": FULL, "b": small})
    assert decoded is not None
    [clause] = decoded.clauses
    assert [(m.guide.code, m.nodes) for m in clause.meanings if m.guide] == [
        ("Unschedulable", ["a"]),
        ("UnschedulableAndUnresolvable", ["b"]),
    ]


def test_a_reason_about_the_pod_counts_no_nodes() -> None:
    message = '0/6 nodes are available: persistentvolumeclaim "a.b" not found. not found'
    said = StatusDocument(
        code="UnschedulableAndUnresolvable",
        plugin="VolumeRestrictions",
        reasons=['persistentvolumeclaim "a.b" not found'],
    )
    decoded = decode(message, {}, said)
    assert decoded is not None
    [clause] = decoded.clauses
    assert (clause.count, clause.plugin) == (None, "VolumeRestrictions")
    assert clause.reason == 'persistentvolumeclaim "a.b" not found'
    assert decoded.tail == "not found"


def test_what_another_plugin_says_after_preemption_is_not_its_reason() -> None:
    no_victims = "1 No preemption victims found for incoming pod"
    decoded = decode(
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        f'0/1 nodes are available: {no_victims}., gang "duo" rejected',
        {},
    )
    assert decoded is not None
    [clause] = decoded.preemption
    assert f"{clause.count} {clause.reason}" == no_victims
    assert decoded.tail == 'no new claims to deallocate, preemption, gang "duo" rejected'


def test_the_message_may_stand_inside_an_event() -> None:
    event = "Warning FailedScheduling default-scheduler 0/9 nodes are available: 9 Too many pods."
    decoded = decode(event, {})
    assert decoded is not None
    assert [(c.count, c.plugin) for c in decoded.clauses] == [(9, "NodeResourcesFit")]


def test_other_text_is_not_decoded() -> None:
    assert decode("Successfully assigned default/web to node-1", {}) is None
