"""What becomes of evicted pods that their owners make again: the run with a plan, once more.

A run leaves evicted pods out, unless it is asked to let their owners make them again. What follows
for an answer is told beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from msgspec.structs import replace as replace_struct

from scheduler_core.analysis.advice.trial import PodEnd, RunEnd
from scheduler_core.api import Pod
from scheduler_core.changes.owners import DAEMON_SET, daemon_in_vain, is_static
from scheduler_core.cluster.pods import controller_of
from scheduler_core.sim.run import RunOptions
from scheduler_core.wording import say, series, some_of


@dataclass(frozen=True, slots=True)
class MadeAgain:
    """What owners make of evicted pods, in sentences; `lost` of the pods asked about pend then."""

    sentences: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warn of a plan that lasts until the evicted pods are made again."""
        if not self.lost:
            return ()
        return (
            say(
                "again.lost",
                "when owners recreate what is evicted, {pods} has no node again",
                pods=series(self.lost),
            ),
        )


def recreating(options: RunOptions) -> RunOptions:
    """Return the options of a run in which owners make evicted pods again."""
    scenario = options.scenario
    more = replace_struct(scenario.options, recreate_evicted=True)
    return replace(options, scenario=replace(scenario, options=more))


def made_again(
    evicted: Sequence[Pod], after: RunEnd, again: RunEnd, asked: Sequence[str]
) -> MadeAgain:
    """Compare a run with the same one in which owners make evicted pods again.

    `evicted` are the victims of the first, `asked` the pods that it binds.
    """
    groups: dict[tuple[str, str, str], list[Pod]] = {}
    for pod in evicted:
        owner = controller_of(pod)
        made_by = (owner.kind, pod.namespace, owner.name) if owner is not None else ("", "", "")
        groups.setdefault(("static", "", "") if is_static(pod) else made_by, []).append(pod)
    said = (_told(owner, pods, after, again) for owner, pods in groups.items())
    lost = tuple(
        key
        for key in asked
        if after.of(key).outcome == "bound" and again.of(key).outcome != "bound"
    )
    return MadeAgain(tuple(said), lost)


def _told(owner: tuple[str, str, str], pods: Sequence[Pod], after: RunEnd, again: RunEnd) -> str:
    kind, namespace, name = owner
    all_keys = [pod.key for pod in pods]
    keys = some_of(all_keys)
    if kind == "static":
        return say("again.static", "static pod {pods}: its kubelet starts it again", pods=keys)
    if not kind:
        return say("again.bare", "nobody recreates {pods}: no controller owns it", pods=keys)
    made = list(_made(f"{namespace}/{name}-", pods, after, again))
    without = sum(end.outcome != "bound" for end in made)
    who = f"{kind} {namespace}/{name}"
    if not made:
        return say("again.not_made", "{who} does not recreate {pods}", who=who, pods=keys)
    if without == len(made):
        if kind == DAEMON_SET:
            return daemon_in_vain(f"{namespace}/{name}", all_keys)
        return say(
            "again.none", "{who} will recreate {pods}, and it finds no node", who=who, pods=keys
        )
    if without:
        return say(
            "again.some",
            "{who} will recreate {pods}: {n} of {all} find no node",
            who=who,
            pods=keys,
            n=without,
            all=len(made),
        )
    nodes = some_of(list(dict.fromkeys(end.node for end in made)))
    return say(
        "again.bound", "{who} will recreate {pods} on {nodes}", who=who, pods=keys, nodes=nodes
    )


def _made(prefix: str, pods: Sequence[Pod], after: RunEnd, again: RunEnd) -> Iterator[PodEnd]:
    """Yield how the pods end that an owner made in place of evicted ones."""
    gone = {pod.key for pod in pods}
    for key, end in again.pods.items():
        is_new = key.startswith(prefix) and key not in after.pods
        same_name = key in gone and end.outcome in ("bound", "pending")
        if is_new or same_name:
            yield end
