"""A cycle as a TLA+ module: constants are the values of this cycle, Next is the control loop.

The module is self-contained: `Init` is the moment of the cycle, `Next` its one step. Numbers beyond
32 bits (sums of priorities, times) are replaced by their rank, which is all that is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from scheduler_core.analysis.model.cycle.model import CycleModel
from scheduler_core.analysis.model.cycle.preempting import Casualty, NodeJeopardy

MAX_PODS: Final = 2_000
"""So many unbound pods are written down, those of highest priority among them."""
WIDTH: Final = 100


def tla_name(cycle: int) -> str:
    """Return the name of the module, which is that of its file without `.tla`."""
    return f"Cycle{cycle}"


def tla_module(model: CycleModel) -> str:
    """Return the module. Raises ValueError where the values of the cycle are not known."""
    if model.cluster is None:
        raise ValueError(model.unknown)
    name = tla_name(model.decided.cycle)
    dashes = "-" * ((76 - len(name)) // 2)
    lines = [
        f"{dashes} MODULE {name} {dashes}",
        *_comment(model),
        "\\* For TLC: INIT Init, NEXT Next, INVARIANT Holds; without a check for deadlock.",
        "EXTENDS Integers, FiniteSets, TLC",
        "",
        *_constants(model),
        *_BEHAVIOUR.strip("\n").split("\n"),
        "",
        *_values(model),
        "=" * 78,
    ]
    return "\n".join(lines) + "\n"


def _comment(model: CycleModel) -> Iterator[str]:
    decided, cluster = model.decided, model.cluster
    assert cluster is not None
    taken = decided.node or "no node"
    yield f"\\* Cycle {decided.cycle}: {decided.pod}. kube-scheduler took {taken}."
    if decided.release_text:
        yield f"\\* Kubernetes v{decided.release_text}."
    if (left := cluster.unbound.n - len(_unbound(model))) > 0:
        yield f"\\* {left} more unbound pods are left out: none of them has a higher priority."
    if model.places.feasible.at_least:
        yield "\\* The search stopped early: Feasible holds the nodes that were found until then."
    if model.preemption is not None and not model.preemption.complete:
        yield "\\* Not all sets of pods were tried: FeasibleWithout holds only those that were."


def _unbound(model: CycleModel) -> Sequence[str]:
    cluster = model.cluster
    assert cluster is not None
    first = [cluster.popped, *cluster.highest.members]
    return list(dict.fromkeys([*first, *cluster.unbound.members]))[:MAX_PODS]


def _constants(model: CycleModel) -> Iterator[str]:
    cluster, places = model.cluster, model.places
    assert cluster is not None
    endangered = _endangered(model)
    on_node = {each.pod: node.node for node in endangered for each in node.jeopardy}
    priority = {each.pod: each.priority for node in endangered for each in node.jeopardy}
    unbound = _unbound(model)
    yield from _define("Nodes", _set(_texts(places.possible.members)))
    yield from _define("Waiting", _set(_texts(unbound)))
    yield from _define("Endangered", _set(_texts(on_node)))
    yield from _define("Pod", _text(cluster.popped))
    yield ""
    priority |= {each: cluster.priorities[each] for each in unbound}
    yield from _define("Priority", _function(_texts(priority), map(_int, priority.values())))
    yield from _define("NodeOf", _function(_texts(on_node), map(_text, on_node.values())))
    yield ""
    yield "\\* Feasibility(Pod, n, Objects \\ gone), as the Filter plugins of the cycle answer."
    yield from _define("FeasibleNow", _set(_texts(places.feasible.members)))
    sets = [(node.node, each.pods) for node in endangered for each in node.subsets if each.feasible]
    made = {(node, pods) for node, pods in sets if pods}
    pairs = [_pair(node, pods) for node, pods in sets if (node, pods) in made]
    yield from _define(
        "FeasibleWithout", f"{{<<n, {{}}>> : n \\in FeasibleNow}} \\cup {_set(pairs)}"
    )
    yield from _define("Viability", _function(*_rated(model)))
    yield "\\* Casualty: budgets, highest priority, rank of the sum, pods, rank of latest start."
    yield from _define("Casualty", _function(*_casualties(endangered)))
    yield ""


def _endangered(model: CycleModel) -> Sequence[NodeJeopardy]:
    return model.preemption.nodes if model.preemption is not None else ()


def _rated(model: CycleModel) -> tuple[Sequence[str], Sequence[object]]:
    """Return the feasible nodes and their totals; all 0 where they were not rated."""
    names = model.places.feasible.members
    rated = model.viability
    if rated is None:
        return _texts(names), [0] * len(names)
    return _texts(names), [rated.totals[name] for name in names]


def _casualties(nodes: Sequence[NodeJeopardy]) -> tuple[Sequence[str], Sequence[str]]:
    found: list[tuple[str, Casualty]] = [
        (_pair(node.node, each.pods), each.casualty)
        for node in nodes
        for each in node.subsets
        if each.feasible and each.casualty is not None
    ]
    sums = _ranks(each.key[2] for _, each in found)
    starts = _ranks(each.key[4] for _, each in found)
    tuples = [
        f"<<{each.pdb_violations}, {_int(each.highest_priority)}, {sums[each.key[2]]}, "
        f"{each.n_pods}, {starts[each.key[4]]}>>"
        for _, each in found
    ]
    return [pair for pair, _ in found], tuples


def _ranks(values: Iterable[int]) -> Mapping[int, int]:
    return {value: rank for rank, value in enumerate(sorted(set(values)), 1)}


_BEHAVIOUR: Final = r"""
VARIABLES there, nodeName
\* there: the pods that exist. nodeName: Pod.Spec.NodeName, "" for none.

Jeopardy(n) == {p \in Endangered \cap there :
                  nodeName[p] = n /\ Priority[p] < Priority[Pod]}
Bound(p) == \E n \in Nodes : nodeName[p] = n
Unbound == {p \in there : ~Bound(p)}
Highest == {p \in Unbound : \A q \in Unbound : Priority[p] >= Priority[q]}
Feasibility(n, gone) == <<n, gone>> \in FeasibleWithout
SchedulingEnabled == \E n \in Nodes : Feasibility(n, {})
Feasible == {n \in Nodes : Feasibility(n, {})}
Viable == {n \in Feasible : \A m \in Feasible : Viability[n] >= Viability[m]}
Scheduling == \E n \in Viable :
                /\ nodeName' = [nodeName EXCEPT ![Pod] = n]
                /\ UNCHANGED there

MakesRoom == {c \in FeasibleWithout : c[2] /= {} /\ c[2] \subseteq Jeopardy(c[1])}
PreemptionEnabled == \E n \in Nodes : \E gone \in SUBSET Jeopardy(n) : Feasibility(n, gone)
Less(a, b) == \E i \in 1..5 : a[i] < b[i] /\ \A j \in 1..(i - 1) : a[j] = b[j]
Least == {c \in MakesRoom : \A d \in MakesRoom : ~Less(Casualty[d], Casualty[c])}
Preemption == \E c \in Least :
                /\ there' = there \ c[2]
                /\ UNCHANGED nodeName

Init == /\ there = Waiting \cup Endangered
        /\ nodeName = [p \in Waiting \cup Endangered |-> IF p \in Endangered THEN NodeOf[p] ELSE ""]

Next == CASE SchedulingEnabled -> Scheduling
          [] ~SchedulingEnabled /\ PreemptionEnabled -> Preemption
          [] OTHER -> UNCHANGED <<there, nodeName>>
"""


def _values(model: CycleModel) -> Iterator[str]:
    """Say what holds at the moment of the cycle, so that a checker can compare."""
    loop = model.loop
    assert model.cluster is not None
    yield "\\* What kviz found at the moment of the cycle."
    yield "AtThatMoment =="
    if loop.scheduling_enabled is not None:
        yield f"  /\\ SchedulingEnabled = {_bool(loop.scheduling_enabled)}"
    if loop.preemption_enabled is not None and not loop.scheduling_enabled:
        yield f"  /\\ PreemptionEnabled = {_bool(loop.preemption_enabled)}"
    yield f"  /\\ Cardinality(Nodes) = {len(model.places.possible.members)}"
    yield f"  /\\ Cardinality(Feasible) = {len(model.places.feasible.members)}"
    yield f"  /\\ (Pod \\in Highest) = {_bool(model.cluster.popped_is_highest)}"
    if model.places.viability_evaluated:
        yield f"  /\\ Cardinality(Viable) = {model.places.viable.n}"
    yield 'Before == there = Waiting \\cup Endangered /\\ nodeName[Pod] = ""'
    yield "Holds == Before => AtThatMoment"
    yield ""


def _define(name: str, value: str) -> Iterator[str]:
    """Yield a definition, broken at commas and `@@`; what is aligned is of no meaning here."""
    line, indent = f"{name} == ", "  "
    for piece in value.replace("@@ ", "@@\0").replace(", ", ",\0").split("\0"):
        if len(line) + len(piece) > WIDTH and line.strip():
            yield line.rstrip()
            line = indent
        line += piece + " "
    yield line.rstrip()


def _set(items: Iterable[str]) -> str:
    return "{" + ", ".join(items) + "}"


def _function(keys: Iterable[str], values: Iterable[object]) -> str:
    """Write a function by its pairs; one of nothing where there are none."""
    pairs = [f"({key} :> {value})" for key, value in zip(keys, values, strict=True)]
    return " @@ ".join(pairs) or "[none \\in {} |-> 0]"


def _pair(node: str, pods: Sequence[str]) -> str:
    return f"<<{_text(node)}, {_set(_texts(pods))}>>"


def _texts(items: Iterable[str]) -> list[str]:
    return [_text(each) for each in items]


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _int(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def _bool(value: bool) -> str:
    return "TRUE" if value else "FALSE"
