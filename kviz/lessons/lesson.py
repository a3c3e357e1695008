"""What a lesson is: a cluster, and steps that ask, reveal, and let the learner try.

docs/lessons.md says what its parts are for.

A lesson is a value that was read from a file (`reading.py`) and is not changed. `cycles` are those
of its run. Nothing here knows who learns: a page, the Explorer or a class take a lesson through
its steps by the same values.
"""

from __future__ import annotations

from functools import reduce
from typing import Literal

from kviz.reference.form import Part
from kviz.reference.glossary import Diagram
from kviz.runs.known import Known
from kviz.runs.known import Part as CyclePart

QuestionKind = Literal["node", "number", "choice", "order"]
Key = str | int
Tab = Literal[
    "why", "filter", "score", "preempt", "node", "state", "log", "devices", "picture", "model"
]


class Moment(Part, frozen=True):
    """What a step opens in the Explorer: a cycle (0: before the first), and where to look in it."""

    cycle: int = 0
    point: str = ""
    plugin: str = ""
    pod: str = ""
    node: str = ""
    tab: Tab | None = None


class Upto(Part, frozen=True):
    """What may be known of a cycle beside all before it: what comes up to the end of a part.

    With `plugin` no Score plugins but that and those before it.
    """

    cycle: int
    after: CyclePart
    plugin: str = ""


class Fact(Part, frozen=True):
    """Where the engine says the right answer; without `cycle` and `pod` it is about the run.

    `value` is a field, or the way to one: of a cycle's line or its REST document, of where a pod
    stands at the end, of the run (`bound`, `pending`, `cycles`). `order_tried` sorts the items of
    an order by their first cycles, `order_of_points` as a cycle calls extension points. `after`
    are changes that the run begins with (docs/changes.md).
    """

    value: str | tuple[Key, ...]
    cycle: int = 0
    pod: str = ""
    after: tuple[str, ...] = ()


class Option(Part, frozen=True):
    value: str
    text: str


class Foreseen(Part, frozen=True):
    """A wrong answer that the lesson foresees, and what it says to that (Markdown)."""

    given: str | int
    says: str


class Question(Part, frozen=True):
    """What a step asks; `answer` is what the engine says, and `kviz lesson check` proves it.

    A node is chosen on the map, a number typed, one of the options chosen, or all put in order.
    A wrong answer before the last of the `tries` gets only what is foreseen.
    """

    ask: str
    kind: QuestionKind
    answer: str | int | tuple[str, ...]
    fact: Fact
    options: tuple[Option, ...] = ()
    unit: str = ""
    because: str = ""
    """Markdown, shown with the right answer."""
    wrong: tuple[Foreseen, ...] = ()
    tries: int = 1

    def says_to(self, given: object) -> str:
        """What the lesson says to a wrong answer, as Markdown; empty for one it did not foresee."""
        return next((each.says for each in self.wrong if str(each.given) == str(given)), "")


class Reveal(Part, frozen=True):
    """How much is shown when a step is answered or given up, and what is then opened."""

    to: int | Upto | Literal["end"]
    at: Moment | None = None
    text: str = ""

    @property
    def upto(self) -> Known | None:
        return None if isinstance(self.to, str) else known(self.to)


class Goal(Part, frozen=True):
    """What a task wants of the run's end: one of these.

    A pod has a node (`bound`, and which: `on`), has none, was evicted; pods are all on different
    nodes (`apart`), or on nodes with different values of a label (`by`).
    """

    bound: str = ""
    on: str = ""
    pending: str = ""
    evicted: str = ""
    apart: tuple[str, ...] = ()
    by: str = ""


class Task(Part, frozen=True):
    """Something to try: changes of the lesson's cluster after which the run meets all goals.

    `of` are the objects (`pod/NS/NAME`, `node/NAME`) and rules (`weight`) that may be changed;
    empty: any. `solution` is one way, which `kviz lesson check` takes.
    """

    text: str
    goals: tuple[Goal, ...]
    solution: tuple[str, ...]
    at_most: int = 1
    of: tuple[str, ...] = ()
    hint: str = ""


class Step(Part, frozen=True):
    title: str
    text: str
    at: Moment | None = None
    question: Question | None = None
    reveal: Reveal | None = None
    task: Task | None = None
    picture: Diagram | None = None
    """A drawing of the glossary, above the text."""
    notes: str = ""
    """For who presents it to a class."""

    def moment(self, *, is_shown: bool) -> Moment | None:
        """What to look at: what the reveal opens, if it opens anything, once that is shown."""
        later = self.reveal.at if self.reveal and is_shown else None
        return later or self.at


class Cluster(Part, frozen=True):
    """One of the samples that come with kviz, or objects as `kubectl get -o yaml` prints them."""

    sample: str = ""
    objects: str = ""


class Lesson(Part, frozen=True):
    """`hidden_after` is the last cycle that may be known at first, or how far; None: all may."""

    title: str
    about: str
    minutes: int
    cluster: Cluster
    steps: tuple[Step, ...]
    summary: str = ""
    """What to remember: three sentences (Markdown), shown at the end."""
    hidden_after: int | Upto | None = None
    veil: int | Upto | None = None
    """What older lessons call `hidden_after`."""
    scheduler_config: str = ""
    scenario: str = ""
    release: str = ""
    """Whose scheduler the run follows; empty: v1.36.2, as before it could be named."""
    samples: tuple[str, ...] = ()
    """Samples in which the same is seen."""

    def topic(self, number: int) -> Question | None:
        """What decides on what a step shows: its own question, else the next one, else the last."""
        step, later = self.steps[number - 1], self.steps[number:]
        nearest = (step, *later, *reversed(self.steps[: number - 1]))
        return next((each.question for each in nearest if each.question), None)

    @property
    def known(self) -> Known | None:
        """How much may be known at the beginning; None: all."""
        hidden_after = self.hidden_from[1]
        return None if hidden_after is None else known(hidden_after)

    @property
    def hidden_from(self) -> tuple[str, int | Upto | None]:
        """The field that says what is hidden at the beginning, and its value."""
        if self.veil is not None:
            return "veil", self.veil
        return "hidden_after", self.hidden_after


def known(upto: int | Upto) -> Known:
    """How much may be known, as a lesson writes it."""
    if isinstance(upto, int):
        return Known(upto)
    return Known(upto.cycle - 1, upto.after, (upto.plugin,) if upto.plugin else ())


def shown_after(shown: Known | None, step: Step) -> Known | None:
    """How much may be known when a step is done; None: all."""
    if shown is None or step.reveal is None:
        return shown
    upto = step.reveal.upto
    return None if upto is None else shown.and_also(upto)


def shown_before(lesson: Lesson, number: int) -> Known | None:
    """How much may be known when a step, counted from 1, begins; None: all."""
    return reduce(shown_after, lesson.steps[: number - 1], lesson.known)
