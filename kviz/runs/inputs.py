"""A run's inputs as people write them: read, checked, and what is wrong with them, where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.conf import settings

from kviz.common.hosts import AllowedHosts
from kviz.common.problems import ErrorItem
from kviz.runs.models import Run
from kviz.runs.scenario_fit import misfits
from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import snapshot_objects
from scheduler_core.config import (
    ConfigError,
    FeatureGates,
    KubeSchedulerConfiguration,
    Problem,
    default_configuration,
    feature_gates,
    load_configuration,
    located,
)
from scheduler_core.releases import RELEASES
from scheduler_core.sim import Scenario, ScenarioError, gates_of_run, load_scenario


class InvalidInput(Exception):
    """A run's configuration or scenario cannot be used; `errors` say where and why."""

    def __init__(self, errors: Sequence[ErrorItem]) -> None:
        self.errors = errors
        super().__init__("; ".join(str(error["message"]) for error in errors))


def configuration_of(text: str, gates: FeatureGates) -> KubeSchedulerConfiguration:
    """Read a run's configuration; empty text is the default one. Raises InvalidInput."""
    if not text.strip():
        return default_configuration(gates)
    try:
        return load_configuration(text, gates)
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error


def scenario_of(text: str) -> Scenario:
    """Read a run's scenario; empty text is one without steps. Raises InvalidInput."""
    if not text.strip():
        return Scenario()
    try:
        return load_scenario(text)
    except ScenarioError as error:
        raise invalid("scenario", error.problems) from error


def gates_of(*, asked: Mapping[str, bool], scenario: str, release: str) -> FeatureGates:
    """The gates of a run to be made; what is `asked` goes before its scenario's.

    Raises InvalidInput, for `feature_gates` or for `scenario`.
    """
    try:
        return gates_of_run(asked, scenario_of(scenario), RELEASES[release])
    except ScenarioError as error:
        raise invalid("scenario", located(error.problems, scenario)) from error
    except ConfigError as error:
        raise invalid("feature_gates", error.problems) from error


def gates_of_stored(run: Run) -> FeatureGates:
    """The gates of a run there is. Raises InvalidInput if this kviz does not have them."""
    release = RELEASES.get(run.release)
    if release is None:
        known = ", ".join(RELEASES)
        text = f"This run follows Kubernetes v{run.release}; this kviz knows {known}."
        raise invalid("release", [Problem((), text)])
    try:
        return feature_gates(run.feature_gates, release)
    except ConfigError as error:
        raise invalid("feature_gates", error.problems) from error


def extender_warnings(scheduler_config: str, gates: FeatureGates) -> list[ErrorItem]:
    """Say which extenders a run will not be allowed to call, at their lines.

    Raises InvalidInput.
    """
    allowed = AllowedHosts.parse(settings.EXTENDER_HOSTS)
    problems = [
        Problem(("extenders", i, "urlPrefix"), f"{refusal} (docs/operation.md)")
        for i, extender in enumerate(configuration_of(scheduler_config, gates).extenders)
        if (refusal := allowed.refusal(extender.url_prefix))
    ]
    return [_error_item("scheduler_config", each) for each in located(problems, scheduler_config)]


def check_fit(*, scenario: str, snapshot: Snapshot) -> None:
    """Raise InvalidInput if a step will not find in the cluster what it acts on."""
    if not scenario.strip():
        return
    try:
        problems = misfits(scenario, snapshot_objects(snapshot=snapshot))
    except ScenarioError as error:
        raise invalid("scenario", error.problems) from error
    if problems:
        raise invalid("scenario", problems)


def invalid(field: str, problems: Iterable[Problem]) -> InvalidInput:
    """The error for what is wrong with one of a run's inputs."""
    return InvalidInput([_error_item(field, problem) for problem in problems])


def _error_item(field: str, problem: Problem) -> ErrorItem:
    message = f"{problem.field}: {problem.message}" if problem.path else problem.message
    item: dict[str, str | int] = {"field": field, "path": problem.field, "message": message}
    if problem.line is not None:
        item["line"] = problem.line
    return item
