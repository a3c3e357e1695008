"""The smallest changes after which a pending pod binds, each of them run.

Candidates come from the evidence of the plugins that are against the pod (`remedies`), in its last
cycle. A preview of that cycle says in milliseconds which of them can be left out; what is left is
run from the beginning, and only a run makes an answer. docs/unblock.md has the prices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Final, Literal

from msgspec.structs import replace

from scheduler_core.analysis.advice.actions import Action, Plan, action, set_on
from scheduler_core.analysis.advice.answer import Answer, Asked, answer_of, without_repeats
from scheduler_core.analysis.advice.blockers import blocked_nodes
from scheduler_core.analysis.advice.bugs import FoundBug, bugs_in
from scheduler_core.analysis.advice.harm import ORDER, harm_of, leaving_of, warnings_of
from scheduler_core.analysis.advice.leaving import Leaving
from scheduler_core.analysis.advice.made_again import recreating
from scheduler_core.analysis.advice.many_pods import for_many, of_all
from scheduler_core.analysis.advice.missing_claims import claims_dropped, claims_made, says_missing
from scheduler_core.analysis.advice.plans import plans
from scheduler_core.analysis.advice.pods_asked import NothingToUnblock
from scheduler_core.analysis.advice.previewed import bound_by_run, may_help, n_with_devices
from scheduler_core.analysis.advice.remedies import Remedies
from scheduler_core.analysis.advice.took_room import TookRoom, took_room
from scheduler_core.analysis.advice.trial import Outcome, PodEnd, Trials
from scheduler_core.analysis.advice.words import sentence_of
from scheduler_core.api import DeviceClass, KubeObject, Pod
from scheduler_core.api.gc_freeze import gc_frozen
from scheduler_core.changes import ChangeError
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.changes.owners import like
from scheduler_core.changes.vocabulary import Create, Delete, target_of
from scheduler_core.cluster.pods import controller_of
from scheduler_core.evidence.free_room import FreeRoom
from scheduler_core.framework.resource_names import is_extended_resource_name
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.wording import SEMICOLON, say, series

_OUTCOMES: Final[Mapping[Outcome, str]] = {
    "bound": say("unblock.bound", "bound"),
    "evicted": say("unblock.evicted", "evicted"),
    "finished": say("unblock.finished", "finished"),
}

MAX_ANSWERS: Final = 10
MAX_ALIKE: Final = 2
"""So many answers of the same kinds, on other nodes."""
MAX_RUNS: Final = 60
"""So many plans are run; what a preview rejects does not count."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a run: an answer or none; no run at all if the changes cannot be made."""

    has_run: bool
    answer: Answer | None = None


PlanResult = Literal["binds", "pending", "no node", "needless", "swap", "refused"]
"""What came of a plan.

`binds`: an answer. `pending`: it was run, and the pod has no node. `no node`: a preview of the
pod's last cycle finds none. `needless`: less than it is an answer. `swap`: another pod of its
owner has no node instead. `refused`: its changes cannot be made.
"""


@dataclass(frozen=True, slots=True)
class TriedPlan:
    """A plan that was tried; `price` is without what its run showed."""

    sentence: str
    price: int
    result: PlanResult


@dataclass(frozen=True, slots=True)
class Unblocked:
    """What has been found so far for a pod, harmless first, then by price.

    `n_tried` of `n_plans` plans have been tried, by kind in `tried`; a pair counts under both.
    `plans` are all of them, in the order in which they were tried.
    `complete`: none is left that might come before the answers here. `free_room` is what is
    free on the nodes that lack only room, `took_room` which earlier placements took that; both
    are of the pod's last cycle, and None where it has none or lacks room on no node. `bugs` are
    the scheduler's own that decide there. `pods` are all that are asked about, `pod` first.
    """

    pod: str
    pods: tuple[str, ...] = ()
    bound: str = ""
    """Where the run places the pod without any change; empty for one that stays pending."""
    answers: tuple[Answer, ...] = ()
    n_tried: int = 0
    n_plans: int = 0
    tried: Mapping[str, int] = field(default_factory=dict)
    plans: tuple[TriedPlan, ...] = ()
    complete: bool = False
    free_room: FreeRoom | None = None
    took_room: TookRoom | None = None
    bugs: tuple[FoundBug, ...] = ()
    nowhere: tuple[str, ...] = ()
    """The devices that the pod asks for and that no node offers."""


Runner = Callable[[Callable[[int], Tried], Iterator[int]], Iterator[tuple[int, Tried]]]
"""Takes what runs a plan, and the numbers of plans, each when it can be begun; yields what is done.
"""


def one_by_one(run: Callable[[int], Tried], numbers: Iterator[int]) -> Iterator[tuple[int, Tried]]:
    """A `Runner` that runs one plan after the other."""
    for number in numbers:
        yield number, run(number)


def unblock(
    trials: Trials, pod: str, runner: Runner = one_by_one, others: Sequence[str] = ()
) -> Iterator[Unblocked]:
    """Search, and yield what is found after every plan that was tried; see `Search`."""
    yield from Search(trials, pod, runner, others).steps()


class Search:
    """A search for what lets a pending pod bind.

    With `others`, pods that wait as well, it is about all of them: what is changed of the pod is
    changed of those that are like it, and an answer says how many of them bind.
    It is the same for every `runner`: one that does several runs side by side does some in vain.
    Every plan has a number; made again for the same cluster, the search has the same plans.
    Raises NothingToUnblock.
    """

    def __init__(
        self, trials: Trials, pod: str, runner: Runner, others: Sequence[str] = ()
    ) -> None:
        end = trials.as_it_is.of(pod)
        known = trials.resting.get(Pod, pod)
        waits = known is not None and not known.spec.node_name
        self._bound = bound_by_run(trials, pod) if waits and end.outcome == "bound" else ""
        if end.outcome != "pending" and not self._bound:
            if end.outcome == "absent":
                raise NothingToUnblock(
                    say("unblock.pod_absent", "pod {pod} is not there, not pending", pod=pod)
                )
            what = _OUTCOMES[end.outcome]
            text = say(
                "unblock.pod_not_pending",
                "pod {pod} is {outcome}, not pending",
                pod=pod,
                outcome=what,
            )
            raise NothingToUnblock(text)
        self._trials = trials
        self._pod = pod
        self._pods = (pod, *others)
        self._runner = runner
        self._plans: list[Plan] = []
        """All there have been so far; the place of one is its number."""
        self._first: tuple[Action, ...] = ()
        """What every plan does beside its own actions."""
        self._answers: list[Answer] = []
        self._tried: Counter[str] = Counter()
        self._listed: list[TriedPlan] = []
        self._n_runs = 0
        self._enough: list[set[str]] = []
        """What changes have been enough: more of the same is no answer."""
        self._free_room: FreeRoom | None = None
        self._took_room: TookRoom | None = None
        self._bugs: tuple[FoundBug, ...] = ()
        self._nowhere: tuple[str, ...] = ()

    def steps(self) -> Iterator[Unblocked]:
        """Yield what is found after every plan that was tried; the last is the result.

        The caller may stop at any time. Raises NothingToUnblock, and what a run raises.
        """
        if self._bound:
            yield self._found(0, complete=True)
            return
        first = self._to_be_tried_at_all()
        objects, end = self._trials.objects, self._trials.as_it_is.of(self._pod)
        if first:
            self._try(Plan(first))
            yield self._found(1, complete=False)
            objects = self._after(first)
            end = self._trials.of(objects).of(self._pod)
        ways = self._claims_first(objects, end)
        if ways:
            yield from self._with_claims(first, ways, objects)
            return
        held = self._trials.held_at(objects, end.cycle) if end.outcome == "pending" else None
        if held is not None and not first:
            self._free_room = held.evidence.free_room
            self._took_room = took_room(held, self._trials.as_it_is)
            self._bugs = bugs_in(held, end.message)
            self._nowhere = tuple(_offered_nowhere(held))
        n_plans = yield from self._beside(first, held, objects)
        yield self._found(n_plans, complete=self._n_runs < MAX_RUNS)

    def sentence(self, number: int) -> str:
        """Return in words what a plan does."""
        return self._told(self._plans[number])

    def _told(self, plan: Plan) -> str:
        try:
            return sentence_of(self._whole(plan), self._trials.resting)
        except ChangeError:  # what it does first cannot be done
            return series(self._whole(plan).lines, SEMICOLON)

    def run(self, number: int) -> Tried:
        """Run a plan; this changes nothing here, and may happen in another process."""
        plan = self._whole(self._plans[number])
        changes = of_all(plan.changes, self._pods, self._trials.resting)
        try:
            objects = self._trials.resting.after(changes).objects()
        except ChangeError:
            return Tried(has_run=False)
        after = self._trials.of(objects)
        helped = [after.of(key).node for key in self._pods if after.of(key).outcome == "bound"]
        if not helped:
            return Tried(True)
        recreates = self._trials.options.scenario.options.recreate_evicted
        again = None if recreates else partial(self._recreating.of, objects)
        asked = Asked(self._pods, self._trials.as_it_is, self._trials.resting, again)
        return Tried(True, answer_of(asked, plan, changes, helped, after))

    @cached_property
    def _recreating(self) -> Trials:
        """The same cluster, with owners that make evicted pods again."""
        return Trials(self._trials.objects, recreating(self._trials.options))

    def _with_claims(
        self, first: tuple[Action, ...], ways: Sequence[Action], objects: Sequence[KubeObject]
    ) -> Iterator[Unblocked]:
        """Try the ways to make claims, then each with more beside it, last the pod without them."""
        for plan in (Plan((*first, way)) for way in ways):
            if not self._is_needless(plan):
                self._try(plan)
                yield self._found(len(self._listed), complete=False)
        n_plans = len(ways)
        left = ways if not self._answers else ()
        held_with = [(way, self._held_after((*first, way))) for way in left]
        for way, held in sorted(held_with, key=lambda each: -n_with_devices(each[1])):
            if self._answers:
                break
            begun = (*first, way)
            n_plans += yield from self._beside(begun, held, self._after(begun))
        self._first = ()
        for each in claims_dropped(self._own(objects), RestingCluster(objects)):
            if not self._answers and each not in ways:
                n_plans += 1
                self._try(Plan((*first, each)))
        yield self._found(n_plans, complete=self._n_runs < MAX_RUNS)

    def _beside(
        self,
        first: tuple[Action, ...],
        held: ReenactedCycle | None,
        objects: Sequence[KubeObject],
    ) -> Generator[Unblocked, None, int]:
        """Try what may help beside what has to be done first; return how many plans there are."""
        if held is None:
            return 0
        self._first, wanted = first, self._plans_against(held, objects)
        with gc_frozen(_nothing):
            yield from self._try_all(wanted, held)
        return len(wanted)

    def _try_all(self, wanted: Sequence[Plan], held: ReenactedCycle) -> Iterator[Unblocked]:
        """Try plans, the promising ones with as many runs at a time as the runner does.

        What came of them is taken in their order, so that it does not matter how many.
        """
        first = taken = self._numbered(wanted)
        tried: dict[int, Tried | None] = {}
        """By the plan's number; None for one that a preview rejects, or that need not be tried."""

        def promising() -> Iterator[int]:
            for number, plan in enumerate(wanted, first):
                if self._is_over(plan):
                    return
                if self._is_needless(plan) or not may_help(plan, held):
                    tried[number] = None
                else:
                    yield number

        for number, one in self._runner(self.run, promising()):
            tried[number] = one
            while taken in tried:
                if self._is_over(self._plans[taken]):
                    return
                self._take(self._plans[taken], tried.pop(taken))
                taken += 1
                yield self._found(len(wanted), complete=False)
        for number in range(taken, len(tried) + taken):
            if self._is_over(self._plans[number]):
                return
            self._take(self._plans[number], tried[number])

    def _to_be_tried_at_all(self) -> tuple[Action, ...]:
        """Return what has to be done before a scheduler tries the pod, if it does not now."""
        pod = self._own(self._trials.objects)
        found = []
        if pod.spec.scheduling_gates:
            found.append(action("gate", set_on(pod, "spec.schedulingGates", None)))
        names = [each.scheduler_name for each in self._trials.options.configuration.profiles]
        if (pod.spec.scheduler_name or names[0]) not in names:
            spec = replace(pod.spec, scheduler_name=names[0])
            again = replace(like(pod, pod.name), spec=spec)
            found = [action("schedule", Delete(target_of(pod)), Create((again,))), *found]
        return tuple(found)

    def _claims_first(self, objects: Sequence[KubeObject], end: PodEnd) -> tuple[Action, ...]:
        """Return the ways to make the claims without which no scheduler looks at a node.

        Where there is none, the pod goes without.
        """
        pod, resting = self._own(objects), RestingCluster(objects)
        if end.outcome != "pending" or not pod.spec.resource_claims:
            return ()
        plugins = () if end.cycle else self._trials.held_back(objects, pod.key)
        if not says_missing((end.message, *(each.status.message for each in plugins))):
            return ()
        return tuple(claims_made(pod, resting)) or tuple(claims_dropped(pod, resting))

    def _after(self, actions: tuple[Action, ...]) -> tuple[KubeObject, ...]:
        return tuple(self._trials.resting.after(Plan(actions).changes).objects())

    def _held_after(self, actions: tuple[Action, ...]) -> ReenactedCycle | None:
        """Return the pod's last cycle after some actions, None if it is not pending then."""
        objects = self._after(actions)
        end = self._trials.of(objects).of(self._pod)
        return self._trials.held_at(objects, end.cycle) if end.outcome == "pending" else None

    def _own(self, objects: Sequence[KubeObject]) -> Pod:
        for item in objects:
            if isinstance(item, Pod) and item.key == self._pod:
                return item
        raise NothingToUnblock(
            say(
                "unblock.pod_of_run",
                "pod {pod} comes about in the run; it cannot be changed",
                pod=self._pod,
            )
        )

    def _plans_against(self, held: ReenactedCycle, objects: Sequence[KubeObject]) -> list[Plan]:
        resting = RestingCluster(objects)
        pod = self._own(objects)
        live = held.objects.get(Pod, self._pod)
        remedies = Remedies(pod, resting, Leaving(resting, pod))
        found = plans(live or pod, resting, remedies, list(blocked_nodes(held)))
        return sorted(for_many(found, len(self._pods)), key=self._rank)

    # ------------------------------------------------------------ one plan

    def _numbered(self, plans: Sequence[Plan]) -> int:
        """Number some more plans; return the number of the first."""
        first = len(self._plans)
        self._plans += plans
        return first

    def _try(self, plan: Plan) -> None:
        """Run a plan before others are thought of."""
        for number, tried in self._runner(self.run, iter((self._numbered((plan,)),))):
            self._take(self._plans[number], tried)

    def _take(self, plan: Plan, tried: Tried | None) -> None:
        """Take in what came of a plan, all before it having been taken in."""
        if self._is_one_of_many(plan):
            return
        self._tried.update(each.kind for each in plan.actions)
        is_needless = self._is_needless(plan)
        answer = tried.answer if tried is not None else None
        is_swap = answer is not None and self._is_swap(answer)
        result: PlanResult = "needless" if is_needless else "swap" if is_swap else _result(tried)
        self._listed.append(TriedPlan(self._told(plan), plan.price, result))
        if tried is None or is_needless:
            return
        self._n_runs += tried.has_run
        if tried.answer is not None and not is_swap:
            self._enough.append(set(self._whole(plan).lines))
            self._answers.append(tried.answer)

    def _is_swap(self, answer: Answer) -> bool:
        """Return whether as many pods of the same owner lose their node as have one then."""
        known = self._trials.resting
        own = known.get(Pod, self._pod)
        owner = controller_of(own) if own is not None else None
        if own is None or owner is None:
            return False
        lost = (known.get(Pod, key) for key in (*answer.evicted, *answer.newly_pending))
        there = [pod for pod in lost if pod is not None and pod.namespace == own.namespace]
        return sum(controller_of(pod) == owner for pod in there) >= answer.n_helped

    def _is_over(self, plan: Plan) -> bool:
        return self._is_behind_all(plan) or self._n_runs >= MAX_RUNS

    def _is_needless(self, plan: Plan) -> bool:
        """Return whether what was found makes a run needless; once it does, it does for ever."""
        lines = set(self._whole(plan).lines)
        return (
            self._is_one_of_many(plan)
            or any(lines >= each for each in self._enough)
            or self._is_less_of_the_same(plan)
        )

    def _whole(self, plan: Plan) -> Plan:
        return Plan((*self._first, *plan.actions))

    def _is_one_of_many(self, plan: Plan) -> bool:
        """Return whether the same was an answer for other nodes, as often as is of interest."""
        kinds = tuple(each.kind for each in self._whole(plan).actions)
        return sum(each.kinds == kinds for each in self._answers) >= MAX_ALIKE

    def _is_less_of_the_same(self, plan: Plan) -> bool:
        """Return whether larger requests than this plan's are an answer by themselves."""
        given_up = [each.price for each in plan.actions if each.kind == "shrink"]
        return any(
            each.kinds == ("shrink",) and price >= each.base_price
            for each in self._answers
            for price in given_up
        )

    def _rank(self, plan: Plan) -> tuple[int, int]:
        """Return the least rank that an answer by this plan can have."""
        changes, cluster = self._whole(plan).changes, self._trials.resting
        warnings = warnings_of(plan.risking(changes), cluster)
        harm = harm_of(warnings, tuple(leaving_of(plan.risking(changes), cluster)))
        return (ORDER.index(harm), plan.price)

    def _is_behind_all(self, plan: Plan) -> bool:
        ranks = sorted(each.rank for each in self._answers)
        return len(ranks) >= MAX_ANSWERS and self._rank(plan) >= ranks[MAX_ANSWERS - 1]

    def _found(self, n_plans: int, *, complete: bool) -> Unblocked:
        best = sorted(self._answers, key=lambda each: (*each.rank, -each.n_helped))
        return Unblocked(
            pod=self._pod,
            pods=self._pods,
            answers=tuple(without_repeats(best)[:MAX_ANSWERS]),
            n_tried=len(self._listed),
            n_plans=n_plans,
            tried=dict(self._tried),
            plans=tuple(self._listed),
            complete=complete,
            free_room=self._free_room,
            took_room=self._took_room,
            bugs=self._bugs,
            nowhere=self._nowhere,
            bound=self._bound,
        )


def _offered_nowhere(held: ReenactedCycle) -> Iterator[str]:
    backed = {each.spec.extended_resource_name for each in held.objects.all(DeviceClass)}
    for name, amount in held.requests.items():
        is_device = amount > 0 and is_extended_resource_name(name) and name not in backed
        if is_device and not held.nodes.allocatable(name).any():
            yield name


def _result(tried: Tried | None) -> PlanResult:
    if tried is None:
        return "no node"
    if not tried.has_run:
        return "refused"
    return "pending" if tried.answer is None else "binds"


def _nothing() -> None:
    """Load nothing: everything that must be frozen is there."""
