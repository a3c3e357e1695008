"""Scenario files: what happens in the cluster while the scheduler runs, and when.

The format is described in docs/scenarios.md. Reading checks all that can be known without a
cluster; every problem carries its line where it is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import field as wire

from scheduler_core.api.coerce import describe
from scheduler_core.changes.applying import too_many_objects
from scheduler_core.changes.reading import STEP_ACTIONS, ChangeReader
from scheduler_core.changes.vocabulary import MAX_CREATED, StepChange, most_created
from scheduler_core.config.decode import decode
from scheduler_core.config.problems import ConfigError, Path, Problem, invalid
from scheduler_core.config.source import located, text_value
from scheduler_core.config.types import ConfigStruct, DurationNs, JsonValue
from scheduler_core.wording import say
from scheduler_core.yaml_text import written as yaml_of


class ScenarioError(ConfigError):
    """A scenario is refused; every problem is listed."""


# ---------------------------------------------------------------- what a scenario says


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens `at_ns` after the run's start; `note` is the author's word on it.

    `place` is its index among the steps of the file.
    """

    at_ns: int
    action: StepChange
    note: str = ""
    place: int = field(default=0, compare=False)


class ScenarioOptions(ConfigStruct, frozen=True, kw_only=True):
    """How the cluster around the scheduler behaves; None leaves it to the inputs of the run."""

    attempt: DurationNs | None = None
    binding: DurationNs | None = None
    pre_bind: DurationNs | None = None
    pod_start: DurationNs | None = None
    kubelet: bool | None = None
    recreate_evicted: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps in order of time, those of one time in the order of the file.

    `until_ns` is when the run ends, 0 to end it when nothing more happens by itself.
    `feature_gates` are switched unless the inputs of the run override them (`run_gates`).
    """

    steps: tuple[Step, ...] = ()
    description: str = ""
    until_ns: int = 0
    options: ScenarioOptions = field(default_factory=ScenarioOptions)
    feature_gates: Mapping[str, bool] = field(default_factory=dict)


# ---------------------------------------------------------------- reading


class _File(ConfigStruct, frozen=True, kw_only=True):
    description: str = ""
    until: DurationNs = 0
    options: ScenarioOptions = ScenarioOptions()
    feature_gates: dict[str, bool] = wire(default_factory=dict)


class _Step(ConfigStruct, frozen=True, kw_only=True):
    at: DurationNs | None = None
    note: str = ""


def load_scenario(text: str | bytes) -> Scenario:
    """Read a scenario from YAML or JSON text. Raises ScenarioError."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ScenarioError([Problem((), say("config.not_utf8", "not UTF-8 text"))]) from None
    try:
        return _Reader().scenario(text_value(text))
    except ConfigError as error:
        raise ScenarioError(located(error.problems, text)) from None


class _Reader:
    """Turns the plain value of a file into a scenario, collecting problems on the way."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def scenario(self, value: JsonValue) -> Scenario:
        if not isinstance(value, dict):
            empty = say("config.document_empty", "the document is empty")
            what = empty if value is None else say("config.expected_mapping", "expected a mapping")
            raise ScenarioError([Problem((), what)])
        head = {name: item for name, item in value.items() if name != "steps"}
        written = decode(head, _File, (), self._problems) or _File()
        steps = [
            step
            for place, item in enumerate(self._list(value.get("steps"), ("steps",)))
            if (step := self._step(item, place)) is not None
        ]
        self._check_end(steps, written.until)
        self._check_size(steps)
        if self._problems:
            raise ScenarioError(self._problems)
        in_order = tuple(step for _, step in sorted(steps, key=lambda each: each[1].at_ns))
        return Scenario(
            in_order, written.description, written.until, written.options, written.feature_gates
        )

    def _check_end(self, steps: list[tuple[Path, Step]], until_ns: int) -> None:
        if until_ns < 0:
            self._problems.append(
                invalid(("until",), until_ns, say("scenario.not_negative", "must not be negative"))
            )
        for path, step in steps:
            if 0 < until_ns < step.at_ns:
                text = say("scenario.after_end", "is after the end of the run (until)")
                self._problems.append(Problem((*path, "at"), text))

    def _check_size(self, steps: list[tuple[Path, Step]]) -> None:
        """Refuse a scenario that creates too much, whatever of it would come about."""
        n_created = sum(most_created(step.action) for _, step in steps)
        if n_created > MAX_CREATED:
            text = too_many_objects(n_created)
            self._problems.append(Problem(("steps",), text))

    # ------------------------------------------------------------ steps

    def _step(self, value: JsonValue, place: int) -> tuple[Path, Step] | None:
        path = ("steps", place)
        if not isinstance(value, dict):
            text = say("expected.mapping", "expected a mapping, got {what}", what=describe(value))
            self._problems.append(Problem(path, text))
            return None
        known = len(self._problems)
        changes = ChangeReader(self._problems)
        changes.refuse_unknown(value, path, STEP_ACTIONS, beside=("at", "note"))
        beside = {name: value[name] for name in value if name in ("at", "note")}
        written = decode(beside, _Step, path, self._problems) or _Step()
        if len(self._problems) == known and written.at is None:
            text = say("scenario.time_missing", "Required value: when it happens")
            self._problems.append(Problem((*path, "at"), text))
        elif written.at is not None and written.at < 0:
            self._problems.append(
                Problem((*path, "at"), say("scenario.not_negative", "must not be negative"))
            )
        action = changes.action(value, path, STEP_ACTIONS)
        if len(self._problems) > known or written.at is None or not isinstance(action, StepChange):
            return None
        return path, Step(written.at, action, written.note, place)

    def _list(self, value: JsonValue, path: Path) -> list[JsonValue]:
        if value is None:
            return []
        if not isinstance(value, list):
            text = say("expected.list", "expected a list, got {what}", what=describe(value))
            self._problems.append(Problem(path, text))
            return []
        return value


# ---------------------------------------------------------------- writing

_RECREATING: Final = "options: {recreateEvicted: true}\n"


def recreating(text: str) -> str:
    """Return the text of a scenario in which owners make evicted pods again, and all else stays.

    Comments and order are kept where the text has no options yet. A text that is no scenario is
    returned as it is: reading it says why.
    """
    longer = f"{text.rstrip()}\n{_RECREATING}".lstrip()
    value, options = _options_in(text)
    if value is None or options.get("recreateEvicted") is True:
        return text
    wanted = {**value, "options": {**options, "recreateEvicted": True}}
    return longer if _options_in(longer)[0] == wanted else yaml_of(wanted)


def recreates(text: str) -> bool:
    """Return whether owners make evicted pods again in a scenario."""
    return _options_in(text)[1].get("recreateEvicted") is True


def _options_in(text: str) -> tuple[dict[str, JsonValue] | None, dict[str, JsonValue]]:
    """Return the value of a scenario's text, None if it is none, and its options."""
    try:
        value = text_value(text) if text.strip() else {}
    except ConfigError:
        return None, {}
    options = value.get("options") or {} if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(options, dict):
        return None, {}
    return value, options
