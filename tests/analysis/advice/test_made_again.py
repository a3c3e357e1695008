"""What owners do about the pods that an answer evicts, and what those are called."""

from __future__ import annotations

from scheduler_core.analysis.advice.answer import Answer
from scheduler_core.analysis.advice.made_again import made_again, recreating
from scheduler_core.analysis.advice.trial import PodEnd, RunEnd, Trials
from scheduler_core.analysis.advice.unblock import unblock
from scheduler_core.api import ObjectMeta, Pod, PriorityClass
from scheduler_core.sim import RunOptions
from tests.builders import make_node, make_pod

HIGH = PriorityClass(metadata=ObjectMeta(name="high"), value=1000)
NODE = make_node("n").cpu(2).obj()


def preempting(*victims: Pod, options: RunOptions | None = None) -> Answer:
    """Return the answer by which pod `p` evicts pods that fill the one node."""
    objects = (NODE, HIGH, *victims, make_pod("p").cpu(2).obj())
    *_, found = unblock(Trials(objects, options or RunOptions()), "default/p")
    return next(each for each in found.answers if each.title == "Raise its priority to high")


def test_a_daemon_set_recreates_its_pod_and_it_does_not_fit() -> None:
    daemon = make_pod("agent-a").owner("DaemonSet", "agent").cpu(1).on("n").obj()
    bare = make_pod("lone").cpu(1).on("n").obj()
    found = preempting(daemon, bare)
    assert found.afterwards == (
        "DaemonSet default/agent will recreate default/agent-a on its node, and it will not fit",
        "nobody recreates default/lone: no controller owns it",
    )
    assert found.pod_kinds == {"default/agent-a": "DaemonSet pod", "default/lone": "bare pod"}


def test_a_plan_that_lasts_until_the_victim_is_made_again_has_a_warning() -> None:
    bound, pending = PodEnd("bound", "n"), PodEnd("pending")
    victim = make_pod("db-0").owner("StatefulSet", "db").obj()
    after = RunEnd({"default/db-0": PodEnd("evicted"), "default/p": bound})
    again = RunEnd({"default/db-0": bound, "default/p": pending})
    found = made_again((victim,), after, again, ("default/p",))
    assert found.sentences == ("StatefulSet default/db will recreate default/db-0 on n",)
    assert found.warnings == ("when owners recreate what is evicted, default/p has no node again",)


def test_where_owners_recreate_in_every_run_their_pods_count() -> None:
    web = make_pod("web-a").owner("ReplicaSet", "web").cpu(2).on("n").obj()
    found = preempting(web, options=recreating(RunOptions()))
    assert found.afterwards == ()
    (again,) = found.newly_pending
    assert again.startswith("default/web-")
