"""A run's inputs as people write them: read, checked, and what is wrong with them, where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Final, cast

from django.conf import settings
from django.utils.translation import gettext as _
from msgspec.structs import replace

from kviz.common.hosts import AllowedHosts
from kviz.common.problems import ErrorItem
from kviz.runs.models import Run
from kviz.runs.scenario_fit import misfits
from kviz.samples.notes import with_known_notes
from kviz.snapshots.models import Snapshot
from kviz.snapshots.samples import sample_of
from kviz.snapshots.selectors import snapshot_objects_each, snapshot_told
from kviz.without_secrets import NO_KEYS, plain_without_secrets, without_user
from scheduler_core.api import Pod
from scheduler_core.changes import (
    Change,
    ChangeAt,
    ChangeError,
    Rules,
    document_of,
    lines_of_changes,
    read_changes,
    read_lines,
)
from scheduler_core.config import (
    ConfigError,
    FeatureGates,
    JsonValue,
    KubeSchedulerConfiguration,
    Problem,
    default_configuration,
    feature_gates,
    load_configuration,
    located,
)
from scheduler_core.releases import RELEASES, stored_release
from scheduler_core.releases.choosing import AUTO, Chosen, chosen_release
from scheduler_core.sim import Scenario, ScenarioError, gates_of_run, load_scenario
from scheduler_core.sim.not_modelled import panics
from scheduler_core.trace.records import QueueOrder
from scheduler_core.wording import SEMICOLON, Text, say, series

INPUTS: Final = (
    "scheduler_config",
    "scenario",
    "seed",
    "release",
    "release_told",
    "feature_gates",
    "tie_break",
    "queue_order",
    "changes",
)
"""The columns of a run that, with its snapshot, decide it."""

PANICKING: Final = frozenset({"DeviceClass", "CSIStorageCapacity"})
"""The kinds of objects that may lead the real scheduler into a panic."""
_CHANGE: Final = re.compile(r"changes\[(\d+)\]")


class InvalidInput(Exception):
    """A run's configuration or scenario cannot be used; `errors` say where and why."""

    def __init__(self, errors: Sequence[ErrorItem]) -> None:
        self.errors = errors
        super().__init__(series((error["message"] for error in errors), SEMICOLON))


def same_inputs(run: Run, **otherwise: object) -> Run:
    """Make a run of the same inputs, but for `otherwise`, without storing it."""
    columns = ("workspace", "snapshot", "n_inherited", *INPUTS)
    return Run(**{name: getattr(run, name) for name in columns} | otherwise)


def configuration_of(text: str, gates: FeatureGates) -> KubeSchedulerConfiguration:
    """Read a run's configuration; empty text is the default one. Raises InvalidInput."""
    if not text.strip():
        return default_configuration(gates)
    try:
        return load_configuration(text, gates)
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error


def refuse_secrets(configuration: KubeSchedulerConfiguration, field: str, text: str = "") -> None:
    """Raise InvalidInput if a configuration holds what not all who read the run may know."""
    problems = []
    for i, extender in enumerate(configuration.extenders):
        place: tuple[str | int, ...] = ("extenders", i)
        if extender.tls_config is not None and extender.tls_config.key_data not in NO_KEYS:
            path: tuple[str | int, ...] = (*place, "tlsConfig", "keyData")
            problems.append(Problem(path, _("A private key is not for kviz to keep.")))
        if without_user(extender.url_prefix) != extender.url_prefix:
            text_of = _("kviz does not store a name and a password in an address.")
            problems.append(Problem((*place, "urlPrefix"), text_of))
    if problems:
        raise invalid(field, located(problems, text) if text else problems)


def scenario_of(text: str) -> Scenario:
    """Read a run's scenario; empty text is one without steps. Raises InvalidInput."""
    if not text.strip():
        return Scenario()
    try:
        return with_known_notes(load_scenario(text))
    except ScenarioError as error:
        raise invalid("scenario", error.problems) from error


def release_for(asked: str, snapshot: Snapshot | None) -> Chosen:
    """The release of a run to be made, by the name of a table or `AUTO`, and why that one."""
    told = snapshot_told(snapshot=snapshot) if snapshot is not None and asked == AUTO else ""
    return chosen_release(asked, told)


def gates_of(*, asked: Mapping[str, bool], scenario: str, chosen: Chosen) -> FeatureGates:
    """The gates of a run to be made; what is `asked` goes before its scenario's.

    Raises InvalidInput, for `feature_gates` or for `scenario`.
    """
    try:
        gates = gates_of_run(asked, scenario_of(scenario), chosen.release)
        return replace(gates, release_told=chosen.told)
    except ScenarioError as error:
        raise invalid("scenario", located(error.problems, scenario)) from error
    except ConfigError as error:
        raise invalid("feature_gates", error.problems) from error


def gates_of_stored(run: Run) -> FeatureGates:
    """The gates of a run there is. Raises InvalidInput if this kviz does not have them."""
    release = stored_release(run.release)
    if release is None:
        known = ", ".join(RELEASES)
        text = say(
            "run.unknown_release",
            "This run follows Kubernetes v{release}; this kviz knows {known}.",
            release=run.release,
            known=known,
        )
        raise invalid("release", [Problem((), text)])
    try:
        gates = feature_gates(run.feature_gates, release)
        return replace(gates, release_told=run.release_told)
    except ConfigError as error:
        raise invalid("feature_gates", error.problems) from error


def rules_of(run: Run) -> Rules:
    """The rules of a run without its changes. Raises InvalidInput, see `gates_of_stored`."""
    gates = gates_of_stored(run)
    return Rules(
        configuration=run.scheduler_config,
        gates=dict(gates.overrides),
        release=gates.release,
        seed=run.seed,
        queue_order=cast("QueueOrder", run.queue_order),
    )


def changes_of(run: Run) -> tuple[ChangeAt, ...]:
    """The changes of a run, those it inherited first. Raises InvalidInput."""
    try:
        changes = read_changes([each["change"] for each in run.changes])
    except ChangeError as error:
        raise invalid("changes", error.problems) from error
    cycles = [int(each["cycle"]) for each in run.changes]
    return tuple(map(ChangeAt, changes, cycles))


def varied(run: Run, changes: Sequence[Change]) -> Run:
    """A run that is not stored: it begins with changes on top of those of another one."""
    made = [{"cycle": 0, "change": document_of(each), "sentence": ""} for each in changes]
    inputs = {name: getattr(run, name) for name in INPUTS}
    inputs["changes"] = [*run.changes, *made]
    return Run(workspace=run.workspace, snapshot=run.snapshot, **inputs)


def changes_given(values: Sequence[JsonValue]) -> tuple[Change, ...]:
    """Read changes as REST takes them: documents, or lines. Raises InvalidInput."""
    try:
        return _without_secrets(read_changes(values))
    except ChangeError as error:
        raise invalid("changes", error.problems) from error


def changes_typed(text: str) -> tuple[Change, ...]:
    """Read changes as a form takes them, one per line. Raises InvalidInput."""
    try:
        return _without_secrets(read_lines(text))
    except ChangeError as error:
        raise invalid("changes", error.problems) from error


def _without_secrets(changes: Sequence[Change]) -> tuple[Change, ...]:
    """Changes as they may be kept."""
    documents = [document_of(each) for each in changes]
    kept = [plain_without_secrets(each) for each in documents]
    return tuple(changes) if kept == documents else read_changes(kept)


def at_lines(errors: Iterable[ErrorItem], text: str) -> list[ErrorItem]:
    """The errors of changes that were typed, each with the line of its change."""
    lines = [number for number, _ in lines_of_changes(text)]
    found = []
    for error in errors:
        index = _CHANGE.match(str(error.get("path", "")))
        if index and "line" not in error:
            error = {**error, "line": lines[int(index[1])], "message": _why(error["message"])}
        found.append(error)
    return found


def _why(message: object) -> str:
    """Return what is wrong, of a message that begins with where."""
    if isinstance(message, Text) and isinstance(message.values, dict):
        return cast("str", message.values.get("why", message))
    return str(message)


def cycle_typed(text: str) -> int:
    """Read the cycle of a form, empty for the beginning. Raises InvalidInput."""
    if not text.strip():
        return 0
    if not text.strip().isdecimal():
        raise invalid(
            "cycle",
            [
                Problem(
                    (),
                    say(
                        "run.cycle_not_a_number",
                        '"{text}" is not the number of a cycle.',
                        text=text,
                    ),
                )
            ],
        )
    return int(text)


def extender_warnings(scheduler_config: str, gates: FeatureGates) -> list[ErrorItem]:
    """Say which extenders a run will not be allowed to call, at their lines.

    Raises InvalidInput.
    """
    allowed = AllowedHosts.parse(settings.EXTENDER_HOSTS)
    problems = [
        Problem(
            ("extenders", i, "urlPrefix"),
            say("run.refused_by_operator", "{refusal} (docs/operation.md)", refusal=refusal),
        )
        for i, extender in enumerate(configuration_of(scheduler_config, gates).extenders)
        if (refusal := allowed.refusal(extender.url_prefix))
    ]
    return [_error_item("scheduler_config", each) for each in located(problems, scheduler_config)]


def panic_warnings(
    scheduler_config: str, gates: FeatureGates, snapshot: Snapshot | None
) -> list[ErrorItem]:
    """Say in which panics a cluster and a configuration lead the real scheduler.

    Raises InvalidInput.
    """
    if snapshot is None or PANICKING.isdisjoint(snapshot.counts):
        return []
    configuration = configuration_of(scheduler_config, gates)
    in_order = snapshot_objects_each(snapshot=snapshot)
    objects = list(takewhile(lambda item: not isinstance(item, Pod), in_order))
    return [
        {"field": "scheduler_config", "message": text}
        for text in panics(objects, configuration, gates)
    ]


def sample_warnings(snapshot: Snapshot | None, given: Mapping[str, object]) -> list[ErrorItem]:
    """Say what of a sample a run does not use, because something else was given."""
    sample = sample_of(snapshot) if snapshot else None
    brings = (
        {"scheduler_config": sample.scheduler_config, "scenario": sample.scenario} if sample else {}
    )
    text = say("run.not_of_sample", "What the sample brings is not used, because this was given.")
    return [
        {"field": field, "message": text}
        for field, own in brings.items()
        if own and given.get(field, own) != own
    ]


def check_fit(*, scenario: str, snapshot: Snapshot) -> None:
    """Raise InvalidInput if a step will not find in the cluster what it acts on."""
    if not scenario.strip():
        return
    try:
        problems = misfits(scenario, snapshot_objects_each(snapshot=snapshot))
    except ScenarioError as error:
        raise invalid("scenario", error.problems) from error
    if problems:
        raise invalid("scenario", problems)


def invalid(field: str, problems: Iterable[Problem]) -> InvalidInput:
    """The error for what is wrong with one of a run's inputs."""
    return InvalidInput([_error_item(field, problem) for problem in problems])


def refuse_hidden(run: Run) -> None:
    """Raise InvalidInput if a run is hidden: who runs it again would know what is hidden."""
    if run.is_hidden:
        text = say(
            "run.hidden_after",
            "What happens after cycle {cycle} of this run is hidden until it is revealed; so it "
            "cannot be simulated here.",
            cycle=run.hidden_after,
        )
        raise invalid("hidden_after", [Problem((), text)])


def errors_of(problems: Iterable[Problem]) -> list[ErrorItem]:
    """The errors of a request whose own fields the problems name."""
    return [{"field": each.field, "message": each.message} for each in problems]


def _error_item(field: str, problem: Problem) -> ErrorItem:
    message = problem.message
    if problem.path:
        message = say("list.what_why", "{what}: {why}", what=problem.field, why=message)
    item: dict[str, str | int] = {"field": field, "path": problem.field, "message": message}
    if problem.line is not None:
        item["line"] = problem.line
    return item
