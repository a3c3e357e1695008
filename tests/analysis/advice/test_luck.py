"""How lucky placements were: against exact enumeration, and when enough is enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

from scheduler_core.analysis.advice.coins import Coin
from scheduler_core.analysis.advice.luck import Luck, PodLuck, answered, ask
from scheduler_core.analysis.advice.throws import Throwing
from scheduler_core.analysis.advice.trial import trial
from scheduler_core.api import KubeObject, Pod
from scheduler_core.config import load_configuration
from scheduler_core.sim import RunOptions
from tests.builders import make_node, make_pod

ALL: tuple[Coin, ...] = ("arrival", "start", "workers", "maps")


SMALL = RunOptions(
    configuration=load_configuration("""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      disabled: [{name: "*"}]
      enabled:
      - name: PrioritySort
      - name: NodeResourcesFit
      - name: DefaultPreemption
      - name: DefaultBinder
""")
)
"""Few plugins: runs of a moment."""


def lucky(
    objects: Sequence[KubeObject],
    coins: Sequence[Coin] = ALL,
    *,
    runs: int,
    tight: float = 0.04,
) -> Luck:
    throwing = Throwing(objects, SMALL)
    asking = ask(objects, coins, runs=runs, seed=1, pools={"n0": "first"}, tight=tight)
    return answered(
        asking,
        lambda batch: [throwing.throw(batch.coins, 1, number) for number in batch.runs],
    )


def of(luck: Luck, pod: str) -> PodLuck:
    return next(each for each in luck.pods if each.pod == f"default/{pod}")


def nodes(n: int, cpu: int = 4) -> list[KubeObject]:
    return [make_node(f"n{i}").cpu(cpu).obj() for i in range(n)]


KINDS = (("a", 1), ("b", 2), ("c", 4))


def mixed(n_pods: int) -> list[Pod]:
    """Pods of three sizes, too many for the nodes: who comes first finds room."""
    kinds = [KINDS[i % 3] for i in range(n_pods)]
    return [make_pod(f"{name}{i}").cpu(cpu).obj() for i, (name, cpu) in enumerate(kinds)]


def test_probabilities_are_those_of_all_orders_of_arrival() -> None:
    """Pods of one size can stand in for each other, so that 12 runs tell of all 24 orders."""
    pods, room = mixed(4), [make_node("n0").cpu(3).obj(), make_node("n1").cpu(1).obj()]
    exact: Counter[str] = Counter()
    orders = set(permutations([pod.name[0] for pod in pods]))
    by_kind = {name: [pod for pod in pods if pod.name[0] == name] for name, _ in KINDS}
    for order in sorted(orders):
        left = {name: list(each) for name, each in by_kind.items()}
        end = trial([*room, *[left[name].pop(0) for name in order]], SMALL)
        exact.update(key.split("/")[1][0] for key in end.keys("bound"))
    luck = lucky([*room, *pods], ("arrival",), runs=150, tight=0)
    for pod in pods:
        kind = pod.name[0]
        probability = exact[kind] / len(orders) / len(by_kind[kind])
        bound = of(luck, pod.name).bound
        # Intervals at 95 % may miss one in twenty: twice their width must hold it.
        assert abs(bound.share - probability) <= 2 * bound.half_width, pod.name


def test_what_room_decides_holds_and_what_a_tie_decides_does_not() -> None:
    objects = [*nodes(3), make_pod("big").cpu(9).obj(), make_pod("any").cpu(1).obj()]
    luck = lucky(objects, runs=25)
    big, anywhere = of(luck, "big"), of(luck, "any")
    assert (big.bound.n, big.held, big.deciding) == (0, True, ())
    assert (anywhere.bound.n, anywhere.held) == (25, False)
    assert anywhere.deciding == ("start", "workers")
    assert {name for name, _ in anywhere.nodes} == {"n0", "n1", "n2"}
    assert [(name, share.n) for name, share in anywhere.pools] == [("first", anywhere.as_pinned.n)]
    assert (len(luck.placements), luck.n_held, luck.n_always_bound) == (1, 0, 1)


def test_a_coin_with_nothing_to_decide_is_not_tried_alone() -> None:
    luck = lucky([*nodes(2), make_pod("a").cpu(1).obj()], runs=30)
    alone = {each.coin: each for each in luck.alone}
    assert (alone["arrival"].runs, alone["maps"].runs) == (0, 0)
    assert (alone["workers"].runs, alone["workers"].n_pods) == (25, 1)


def test_runs_end_when_every_interval_is_tight() -> None:
    objects = [*nodes(1), make_pod("a").cpu(1).obj()]
    only = Throwing(objects, SMALL).throw(ALL, 1, 0)
    asking = ask(objects, ALL, runs=1000, seed=1, pools={"n0": "first"})
    luck = answered(asking, lambda batch: [only] * len(batch.runs))
    assert (luck.runs, luck.is_tight, luck.n_held) == (100, True, 1)


def test_who_is_evicted_is_counted_and_which_victim_is_luck() -> None:
    taken = [make_pod(f"t{i}").cpu(4).on(f"n{i}").obj() for i in range(2)]
    luck = lucky([*nodes(2), *taken, make_pod("a").cpu(3).priority(9).obj()], runs=30)
    assert sorted(name for name, _ in luck.left) == ["default/t0", "default/t1"]
    assert sum(share.n for _, share in luck.left) == 30
    assert of(luck, "a").deciding == ("maps",)


def test_lots_are_drawn_where_the_coin_is_asked_for() -> None:
    objects = [*nodes(4), make_pod("a").cpu(1).obj()]
    luck = lucky(objects, ("draws",), runs=30)
    assert len(of(luck, "a").nodes) == 4
    assert of(luck, "a").deciding == ("draws",)
