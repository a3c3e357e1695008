"""What the engine says: the right answer to a question, looked up in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

from kviz.lessons.enacting import Enacted
from kviz.lessons.lesson import Fact, Question

POINTS: Final = (
    *("PreEnqueue", "QueueSort", "PreFilter", "Filter", "PostFilter", "PreScore", "Score"),
    *("NormalizeScore", "Reserve", "Permit", "PreBind", "Bind", "PostBind"),
)
"""In the order in which a pod meets them. Upstream: the scheduling framework's diagram."""


class NoSuchFact(LookupError):
    """A fact leads nowhere in the run; the text says where it ends."""


def fact_of(question: Question, run: Enacted) -> object:
    """Return what the engine says to a question. Raises NoSuchFact."""
    fact = question.fact
    if fact.value == "order_tried":
        first: dict[str, int] = {}
        for row in run.cycles.values():
            first.setdefault(row.pod, row.number)
        return _in_order(question, first)
    if fact.value == "order_of_points":
        return _in_order(question, {point: i for i, point in enumerate(POINTS)})
    way = (fact.value,) if isinstance(fact.value, str) else fact.value
    for root in _roots(fact, run):
        if way[0] in root:
            found = _follow(root, way)
            return _nearest(question, found) if way[0] == "luck" else found
    raise NoSuchFact(f"there is no {way[0]}")


def _in_order(question: Question, places: Mapping[str, int]) -> tuple[str, ...]:
    values = [option.value for option in question.options]
    missing = [value for value in values if value not in places]
    if missing:
        raise NoSuchFact(f"{missing[0]} does not occur")
    return tuple(sorted(values, key=lambda value: places[value]))


def _nearest(question: Question, found: object) -> object:
    """Of a choice among numbers the one that is nearest to what was counted."""
    if question.kind != "choice" or not isinstance(found, int):
        return found
    return min((each.value for each in question.options), key=lambda n: abs(int(n) - found))


def _roots(fact: Fact, run: Enacted) -> list[Mapping[str, object]]:
    """Where the first step of a way is looked up."""
    if fact.cycle:
        if fact.cycle not in run.cycles:
            raise NoSuchFact(f"the run has {len(run.cycles)} cycles, no cycle {fact.cycle}")
        return [asdict(run.cycles[fact.cycle]), dict(run.document(fact.cycle))]
    if fact.pod and fact.value[0] == "luck":
        return [{"luck": run.luck.get(fact.pod, {})}]
    if fact.pod and fact.value[0] == "upgrade":
        release = str(fact.value[1])
        return [{"upgrade": {release: run.upgraded(release).get(fact.pod, {})}}]
    if fact.pod and fact.value[0] == "asked":
        return [{"asked": run.asked(fact.pod)}]
    if fact.pod:
        if fact.pod in run.pods:
            return [asdict(run.pods[fact.pod])]
        if fact.pod in run.placed:
            return [{"pod": fact.pod, "node": run.placed[fact.pod], "evicted_in_cycle": None}]
        raise NoSuchFact(f"the run knows no pod {fact.pod}")
    ends = run.ends().nodes
    bound = sum(map(bool, ends.values()))
    return [{"cycles": len(run.cycles), "bound": bound, "pending": len(ends) - bound}]


def _follow(root: Mapping[str, object], way: Sequence[str | int]) -> object:
    found: object = root
    for i, step in enumerate(way):
        if step == "count" and i == len(way) - 1 and isinstance(found, (Mapping, list, tuple)):
            return len(found)
        try:
            found = found[step]  # type: ignore[index]
        except (LookupError, TypeError) as error:
            before = ".".join(map(str, way[:i])) or "the run"
            raise NoSuchFact(f"{before} has no {step}") from error
    return found


def agrees(answer: str | int | tuple[str, ...], found: object) -> bool:
    """Whether an answer of a lesson is what the engine says."""
    if isinstance(answer, tuple):
        return isinstance(found, (tuple, list)) and list(answer) == list(found)
    if isinstance(found, bool) or found is None:
        return str(answer) == {True: "yes", False: "no", None: "no"}[found]
    return str(answer) == str(found)
