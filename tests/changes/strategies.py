"""A small cluster, and changes of it drawn at random: most can be carried out, some cannot."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from scheduler_core.api import (
    KubeObject,
    Node,
    ObjectMeta,
    PersistentVolumeClaim,
    Pod,
    PriorityClass,
    Taint,
)
from scheduler_core.changes.vocabulary import (
    EFFECTS,
    AddTaint,
    Change,
    CopyNode,
    Cordon,
    Create,
    Delete,
    Drain,
    Patch,
    Put,
    RemoveLabel,
    RemoveTaint,
    Scale,
    SetField,
    SetLabel,
    SetQueueOrder,
    SetScoring,
    SetSeed,
    SetWeight,
    SwitchGate,
    Target,
    UseConfiguration,
)
from scheduler_core.config.types import ScoringStrategyType
from tests.builders import make_node, make_pod

NODES = ("n1", "n2", "n3")
PODS = ("a", "b", "bound-1", "bound-2", "daemon")


def cluster() -> list[KubeObject]:
    """Three nodes; two pods of a ReplicaSet and one of a DaemonSet bound, two pending."""
    return [
        PriorityClass(metadata=ObjectMeta(name="high"), value=1000),
        *(
            make_node(name).zone("z").cpu(2).taint("soft", effect="PreferNoSchedule").obj()
            for name in NODES
        ),
        make_pod("bound-1").owner("ReplicaSet", "web").cpu("1").on("n1").obj(),
        make_pod("bound-2").owner("ReplicaSet", "web").cpu("1").on("n2").obj(),
        make_pod("daemon").owner("DaemonSet", "agent").cpu("100m").on("n1").obj(),
        make_pod("a").cpu("1500m").obj(),
        make_pod("b").cpu("500m").label("app", "b").obj(),
        PersistentVolumeClaim(metadata=ObjectMeta(name="data", namespace="default")),
    ]


names = st.sampled_from((*NODES, "nowhere"))
pods = st.sampled_from(PODS).map(lambda name: Target(Pod, "default", name))
nodes = st.sampled_from(NODES).map(lambda name: Target(Node, "", name))
keys = st.sampled_from(("soft", "gpu", "example.com/pool", "app", "topology.kubernetes.io/zone"))
values = st.sampled_from(("", "x", "a-b", "1", "true", "z"))

set_fields = st.one_of(
    st.builds(
        SetField,
        pods,
        st.sampled_from(
            (
                "spec.containers[0].resources.requests.cpu",
                "spec.containers[name=c].resources.requests.memory",
                "spec.containers[0].resources.requests[example.com/gpu]",
            )
        ),
        st.sampled_from(("2", "500m", "1Gi", None)),
    ),
    st.builds(SetField, pods, st.just("spec.priority"), st.sampled_from((None, 0, 5, -3))),
    st.builds(
        SetField, pods, st.just("spec.priorityClassName"), st.sampled_from(("high", "none", "null"))
    ),
    st.builds(
        SetField,
        pods,
        st.sampled_from(("spec.tolerations[+]", "spec.tolerations[0]")),
        st.sampled_from((None, {"key": "gpu", "operator": "Exists"})),
    ),
    st.builds(
        SetField,
        nodes,
        st.sampled_from(("status.allocatable.cpu", "status.allocatable[example.com/gpu]")),
        st.sampled_from(("8", "100m", None)),
    ),
    st.builds(
        SetField,
        nodes,
        st.sampled_from(("metadata.labels.app", "metadata.labels[example.com/pool]")),
        st.sampled_from(("x", '"quoted"', " padded ", "null", "a\nb", "", None)),
    ),
)  # fmt: skip

taints = st.builds(
    lambda key, value, effect: Taint(key=key, value=value, effect=effect),
    keys, values, st.sampled_from(EFFECTS),
)  # fmt: skip


def _fresh_pod(name: str, priority_class: str) -> Pod:
    pod = make_pod(name).uid("").cpu("250m").obj()
    return replace(pod, spec=replace(pod.spec, priority_class_name=priority_class))


fresh_pods = st.builds(
    _fresh_pod, st.sampled_from(("new", "other", "a")), st.sampled_from(("", "high", "none"))
)
fresh_nodes = st.sampled_from(("n1", "n9")).map(lambda name: make_node(name).cpu(4).obj())

object_changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(Cordon, names, st.booleans()),
    st.builds(Drain, names),
    st.builds(AddTaint, names, taints),
    st.builds(RemoveTaint, names, keys, st.sampled_from(("", *EFFECTS))),
    st.builds(SetLabel, names, keys, values),
    st.builds(RemoveLabel, names, keys),
    st.builds(CopyNode, names, st.integers(1, 3)),
    st.builds(Delete, st.one_of(pods, nodes), st.sampled_from((None, 0, 10))),
    st.builds(
        Patch, nodes,
        st.sampled_from(({"spec": {"unschedulable": True}}, {"spec": {"taints": None}})),
    ),
    st.builds(Scale, st.just("ReplicaSet"), st.just("default"), st.just("web"), st.integers(0, 4)),
    st.builds(lambda item: Create((item,)), st.one_of(fresh_pods, fresh_nodes)),
    st.builds(lambda item, n: Create((item,), n), fresh_pods, st.integers(1, 3)),
    st.builds(lambda *items: Put(items), fresh_pods, fresh_nodes),
    set_fields,
)  # fmt: skip

rule_changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(UseConfiguration, st.sampled_from(("", "apiVersion: x\nkind: y\n", '{"a": 1}'))),
    st.builds(SetWeight, st.sampled_from(("NodeAffinity", "TaintToleration")), st.integers(1, 100)),
    st.builds(
        SetScoring,
        st.sampled_from(ScoringStrategyType),
        st.sampled_from((((0, 0), (100, 10)), ((0, 10), (50, 0)))),
    ),
    st.builds(
        SwitchGate, st.sampled_from(("NodeDeclaredFeatures", "DRADeviceTaints")), st.booleans()
    ),
    st.builds(SetSeed, st.integers(-(2**63), 2**63 - 1)),
    st.builds(SetQueueOrder, st.sampled_from(("listed", "name", "created"))),
)

changes = st.one_of(object_changes, rule_changes)
