"""A lesson's run, simulated on the spot: what a check holds the lesson's words against."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from kviz.lessons.lesson import Lesson
from kviz.out_of_tree import load_plugins
from kviz.questions.rehearse.answer import Upgrade
from kviz.questions.rehearse.text import as_json, rows
from kviz.runs.reading.projection import CycleDocument, cycle_document
from kviz.samples import sample_named
from scheduler_core.analysis.advice.coins import Coin
from scheduler_core.analysis.advice.throws import Cast, Throwing
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.ingest import ingest
from scheduler_core.changes import ChangeAt, Rules, plan, read_lines
from scheduler_core.config import ConfigError, Problem
from scheduler_core.extender.transport import Reply, RequestFailed, TLSSettings
from scheduler_core.releases import RELEASES, stored_release
from scheduler_core.releases.table import Release
from scheduler_core.sim import RunOptions, Scenario, gates_of_run, load_scenario, simulate
from scheduler_core.trace.cycle_record import cycle_range, cycle_record
from scheduler_core.trace.events import AnyEvent, CycleStarted, Detail, HeaderEvent, QueueMoved
from scheduler_core.trace.index import CycleRow, PodRow, TraceIndex
from scheduler_core.trace.names import Names
from scheduler_core.wording import say, series

LUCK_RUNS: Final = 100
FINISHING: Final[tuple[Coin, ...]] = ("workers",)


class NobodyAnswers:
    """A transport of extenders that reaches none: lessons show what happens then."""

    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        """Raise RequestFailed."""
        raise RequestFailed("connect: connection refused")


@dataclass(frozen=True)
class Ends:
    """Where a run leaves pods (`namespace/name`), for the goals of tasks."""

    nodes: dict[str, str]
    """By pod; empty for one without a node. Pods that are not known are not here."""
    evicted: frozenset[str]
    labels: dict[str, dict[str, str]]
    """Of the nodes, by node."""


@dataclass
class Enacted:
    """A lesson's run, all of it."""

    headers: list[HeaderEvent]
    details: dict[int, list[Detail]]
    cycles: dict[int, CycleRow]
    pods: dict[str, PodRow]
    placed: dict[str, str]
    """The pods that were on nodes when the run began, with their nodes."""
    node_labels: dict[str, dict[str, str]]
    objects: Sequence[KubeObject] = ()
    options: RunOptions | None = None
    """What it was simulated with, where it was simulated here."""
    rules: Rules | None = None
    """What the options were made of."""

    @cached_property
    def luck(self) -> dict[str, Counter[str]]:
        """By pod, how often it comes to which node in 100 runs whose workers finish as they may."""
        found: dict[str, Counter[str]] = {}
        if self.options is not None:
            throwing, pods = Throwing(self.objects, self.options), Cast(self.objects).pods
            for number in range(LUCK_RUNS):
                ends = throwing.throw(FINISHING, 0, number).places
                for pod, place in zip(pods, ends, strict=True):
                    found.setdefault(pod, Counter())[place] += 1
        return found

    def upgraded(self, release: str) -> dict[str, dict[str, object]]:
        """Return of the pods that another release lets end otherwise, where, and what does it."""
        if self.options is None or self.rules is None:
            return {}
        return upgraded(self.objects, self.options, self.rules, release)

    def asked(self, pod: str) -> dict[str, dict[str, str]]:
        """Return what hints said of events for a pod, by plugin and event."""
        found: dict[str, dict[str, str]] = {}
        for event in self.headers:
            if isinstance(event, QueueMoved) and self.names.pod(event.pod) == pod:
                for each in event.hints:
                    found.setdefault(self.names.plugins[each.plugin], {})[event.event] = each.hint
        return found

    @cached_property
    def names(self) -> Names:
        names = Names()
        names.take(self.headers)
        return names

    @property
    def nodes(self) -> frozenset[str]:
        return frozenset(self.node_labels)

    def document(self, cycle: int) -> CycleDocument:
        """The cycle as REST has it. Raises KeyError for one that there is not."""
        row = self.cycles[cycle]
        place = cycle_range(self.headers, cycle)
        events, later = self.headers[place.start : place.stop], self.headers[place.stop :]
        record = cycle_record(events, later, self.details.get(cycle, ()))
        names = Names()
        names.take(self.headers[: place.start])
        order = names.order
        names.take(events)
        document = cycle_document(replace(names, order=order), record)
        document["result"], document["node"] = row.result, row.node
        return document

    def _is_gone(self, pod: str) -> bool:
        return pod in self.pods and self.pods[pod].deleted

    def ends(self) -> Ends:
        nodes = self.placed | {pod.pod: pod.node for pod in self.pods.values()}
        nodes = {pod: node for pod, node in nodes.items() if not self._is_gone(pod)}
        evicted = (pod.pod for pod in self.pods.values() if pod.evicted_in_cycle is not None)
        return Ends(nodes, frozenset(evicted), self.node_labels)


def scheduler_config_of(lesson: Lesson) -> str:
    """The configuration of the lesson, or what its sample brings."""
    sample = sample_named(lesson.cluster.sample)
    return lesson.scheduler_config or (sample.scheduler_config if sample else "")


def scenario_of(lesson: Lesson) -> str:
    """The scenario of the lesson, or what its sample brings."""
    sample = sample_named(lesson.cluster.sample)
    return lesson.scenario or (sample.scenario if sample else "")


def release_of(lesson: Lesson) -> Release:
    """The release that the lesson is about. Raises ConfigError."""
    found = stored_release(lesson.release)
    if found is None:
        text = say(
            "lesson.unknown_release",
            "This kviz does not know Kubernetes {release}; it knows {known}.",
            release=lesson.release,
            known=series(RELEASES),
        )
        raise ConfigError([Problem(("release",), text)])
    return found


def cluster_text(lesson: Lesson) -> bytes:
    """The lesson's cluster as an upload would have it."""
    sample = sample_named(lesson.cluster.sample)
    return sample.path.read_bytes() if sample else lesson.cluster.objects.encode()


def enact(lesson: Lesson, changes: Sequence[str] = ()) -> Enacted:
    """Simulate the lesson's run, with changes made before. Raises ConfigError."""
    objects, options, rules = planned_run(lesson, changes)
    run = enacted(objects, simulate(objects, options))
    return replace(run, objects=objects, options=options, rules=rules)


def planned_run(
    lesson: Lesson, changes: Sequence[str] = ()
) -> tuple[Sequence[KubeObject], RunOptions, Rules]:
    """Return cluster, options and rules of the lesson's run, with changes made.

    Raises ConfigError.
    """
    ingested = ingest([("cluster.yaml", io.BytesIO(cluster_text(lesson)))])
    if ingested.errors:
        path = ("cluster", "objects")
        raise ConfigError([Problem(path, str(error)) for error in ingested.errors])
    text = scenario_of(lesson)
    scenario = load_scenario(text) if text.strip() else Scenario()
    gates = gates_of_run({}, scenario, release_of(lesson))
    rules = Rules(scheduler_config_of(lesson), dict(gates.overrides), gates.release)
    made = [ChangeAt(change) for change in read_lines("\n".join(changes))]
    planned = plan(list(ingested.objects), rules, made)
    configuration = planned.rules.load()
    options = RunOptions(
        configuration=configuration,
        features=planned.rules.features(),
        registry=load_plugins(configuration, None).registry,
        scenario=scenario,
        seed=planned.rules.seed,
        queue_order=planned.rules.queue_order,
        transport=NobodyAnswers() if configuration.extenders else None,
    )
    return planned.objects, options, planned.rules


def upgraded(
    objects: Sequence[KubeObject], new: RunOptions, rules: Rules, release: str
) -> dict[str, dict[str, object]]:
    """Rehearse the upgrade from a release, and return by pod what it changes.

    Of each pod that ends otherwise: where it is `before`, `because` of what it is not any more, and
    what would `keep` it there. Raises ConfigError.
    """
    before = replace(rules, release=RELEASES[release])
    old = replace(new, configuration=before.load(), features=before.features())
    upgrade = Upgrade(objects, old, before, rules.release)
    told = as_json(upgrade.answer(lambda sets: list(map(upgrade.both.without, sets))))
    return {
        row.pod: {"before": row.before, "because": row.because[0], "keep": row.keep}
        for row in rows(told)
    }


def enacted(objects: Sequence[KubeObject], events: Iterable[AnyEvent]) -> Enacted:
    """Return what a run over a cluster came to, from its trace."""
    index, headers = TraceIndex(), list[HeaderEvent]()
    details: dict[int, list[Detail]] = {}
    number = 0
    for event in events:
        if isinstance(event, Detail):
            details.setdefault(number, []).append(event)
        else:
            headers.append(event)
            number = event.cycle if isinstance(event, CycleStarted) else number
            index.take(event)
    delta = index.drain()
    labels = {
        item.metadata.name: dict(item.metadata.labels) for item in objects if isinstance(item, Node)
    }
    return Enacted(
        headers,
        details,
        {row.number: row for row in delta.cycles},
        {row.pod: row for row in delta.pods},
        placed_before(objects),
        labels,
    )


def placed_before(objects: Iterable[KubeObject]) -> dict[str, str]:
    """The pods that are on nodes before a run begins, by `namespace/name`."""
    pods = (each for each in objects if isinstance(each, Pod))
    return {pod.key: pod.spec.node_name for pod in pods if pod.spec.node_name}
