"""Scenario files: what happens in the cluster while the scheduler runs, and when.

The format is described in docs/scenarios.md. Reading checks all that can be known without a
cluster; every problem carries its line where it is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final, TypeVar

from msgspec import field as wire
from msgspec.structs import replace

from scheduler_core.api import KINDS, KubeObject, Taint
from scheduler_core.api.coerce import coerce_struct, describe
from scheduler_core.api.errors import FieldError, ParseError, Place
from scheduler_core.api.parse import parse_object
from scheduler_core.config.decode import decode
from scheduler_core.config.problems import ConfigError, Path, Problem, invalid, not_supported
from scheduler_core.config.source import located, text_value
from scheduler_core.config.types import ConfigStruct, DurationNs, Int32, JsonValue
from scheduler_core.sim.merge_patch import without_nulls

MAX_COPIES: Final = 10_000
MAX_REPLICAS: Final = 10_000
MAX_CREATED: Final = 100_000
"""Objects that all steps together may create: more take minutes, and gigabytes."""
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class ScenarioError(ConfigError):
    """A scenario is refused; every problem is listed."""


# ---------------------------------------------------------------- what a scenario says


@dataclass(frozen=True, slots=True)
class Create:
    """Create objects in order; with `copies` each so often, as `NAME-1`, `NAME-2` and on."""

    objects: tuple[KubeObject, ...]
    copies: int = 0

    def items(self) -> Iterator[KubeObject]:
        """Yield what is to be created, with the names and namespaces it gets."""
        for item in self.objects:
            for i in range(1, max(self.copies, 1) + 1):
                name = f"{item.name}-{i}" if self.copies else item.name
                namespace = item.namespace or ("default" if item.namespaced else "")
                yield replace(item, metadata=replace(item.metadata, name=name, namespace=namespace))


@dataclass(frozen=True, slots=True)
class Target:
    """One object by kind, namespace (empty for kinds without) and name."""

    kind: type[KubeObject]
    namespace: str
    name: str

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def __str__(self) -> str:
        return f"{self.kind.kind} {self.key}"


@dataclass(frozen=True, slots=True)
class Patch:
    """Apply a JSON merge patch."""

    target: Target
    merge: dict[str, object]


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object, a pod gracefully; `grace_seconds` None leaves that to the pod."""

    target: Target
    grace_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Cordon:
    """Mark a node unschedulable, or no longer so."""

    node: str
    unschedulable: bool


@dataclass(frozen=True, slots=True)
class Drain:
    """Cordon a node and evict its pods, but for those that belong to it."""

    node: str


@dataclass(frozen=True, slots=True)
class AddTaint:
    """Put a taint on a node, in place of one with its key and effect."""

    node: str
    taint: Taint


@dataclass(frozen=True, slots=True)
class RemoveTaint:
    """Take the taints with a key off a node; all effects if `effect` is empty."""

    node: str
    key: str
    effect: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Bring an owner's pods to a number; `kind` may be one that is not modelled."""

    kind: str
    namespace: str
    name: str
    replicas: int


Action = Create | Patch | Delete | Cordon | Drain | AddTaint | RemoveTaint | Scale


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens `at_ns` after the run's start; `note` is the author's word on it.

    `place` is its index among the steps of the file.
    """

    at_ns: int
    action: Action
    note: str = ""
    place: int = field(default=0, compare=False)


class ScenarioOptions(ConfigStruct, frozen=True, kw_only=True):
    """How the cluster around the scheduler behaves; None leaves it to whoever starts the run."""

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
    `feature_gates` are switched unless whoever starts the run says otherwise (`run_gates`).
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


class _Target(ConfigStruct, frozen=True, kw_only=True):
    kind: str = ""
    namespace: str = ""
    name: str = ""


class _Delete(_Target, frozen=True, kw_only=True):
    grace_period_seconds: Int32 | None = None


class _AddTaint(ConfigStruct, frozen=True, kw_only=True):
    node: str = ""
    key: str = ""
    value: str = ""
    effect: str = ""


class _RemoveTaint(ConfigStruct, frozen=True, kw_only=True):
    node: str = ""
    key: str = ""
    effect: str = ""


class _Scale(_Target, frozen=True, kw_only=True):
    replicas: Int32 | None = None


class _Copies(ConfigStruct, frozen=True, kw_only=True):
    copies: Int32 = wire(default=0)


_Mapping = dict[str, JsonValue]
_Required = TypeVar("_Required", bound=ConfigStruct)
_ACTIONS: Final = (
    "create",
    "patch",
    "delete",
    "cordon",
    "uncordon",
    "drain",
    "taint",
    "untaint",
    "scale",
)
_SEGMENT: Final = re.compile(r"\[([^\]]*)\]|([^.\[]+)")


def load_scenario(text: str | bytes) -> Scenario:
    """Read a scenario from YAML or JSON text. Raises ScenarioError."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ScenarioError([Problem((), "not UTF-8 text")]) from None
    try:
        return _Reader().scenario(text_value(text))
    except ConfigError as error:
        raise ScenarioError(located(error.problems, text)) from None


def _most_created(action: Action) -> int:
    """Return how many objects a step creates at most."""
    match action:
        case Create(objects, copies):
            return len(objects) * copies
        case Scale():
            return action.replicas
        case _:
            return 0


class _Reader:
    """Turns the plain value of a file into a scenario, collecting problems on the way."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def scenario(self, value: JsonValue) -> Scenario:
        if not isinstance(value, dict):
            what = "the document is empty" if value is None else "expected a mapping"
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
            self._problems.append(invalid(("until",), until_ns, "must not be negative"))
        for path, step in steps:
            if 0 < until_ns < step.at_ns:
                self._problems.append(Problem((*path, "at"), "is after the end of the run (until)"))

    def _check_size(self, steps: list[tuple[Path, Step]]) -> None:
        """Refuse a scenario that creates too much, whatever of it would come about."""
        n_created = sum(_most_created(step.action) for _, step in steps)
        if n_created > MAX_CREATED:
            text = f"may create {n_created:,} objects in all; the limit is {MAX_CREATED:,}"
            self._problems.append(Problem(("steps",), text))

    # ------------------------------------------------------------ steps

    def _step(self, value: JsonValue, place: int) -> tuple[Path, Step] | None:
        path = ("steps", place)
        if not isinstance(value, dict):
            self._problems.append(Problem(path, f"expected a mapping, got {describe(value)}"))
            return None
        known = len(self._problems)
        names = [name for name in value if name in _ACTIONS]
        extra = ("copies",) if names == ["create"] else ()
        rest = {name: value[name] for name in value if name not in (*_ACTIONS, *extra)}
        self._name_unknown(rest, path)
        rest = {name: rest[name] for name in rest if name in ("at", "note")}
        written = decode(rest, _Step, path, self._problems) or _Step()
        if len(names) != 1:
            found = " and ".join(names) if names else "none"
            wanted = ", ".join(_ACTIONS)
            self._problems.append(Problem(path, f"one action is needed, of {wanted}; got {found}"))
            return None
        if len(self._problems) == known and written.at is None:
            self._problems.append(Problem((*path, "at"), "Required value: when it happens"))
        elif written.at is not None and written.at < 0:
            self._problems.append(Problem((*path, "at"), "must not be negative"))
        action = self._action(names[0], value, path)
        if action is None or len(self._problems) > known or written.at is None:
            return None
        return path, Step(written.at, action, written.note, place)

    def _name_unknown(self, rest: _Mapping, path: Path) -> None:
        for name in rest:
            if name == "copies":
                self._problems.append(Problem((*path, name), "only goes with create"))
            elif name not in ("at", "note"):
                close = get_close_matches(name, (*_ACTIONS, "at", "note", "copies"), n=1)
                hint = f', did you mean "{close[0]}"?' if close else ""
                self._problems.append(Problem((*path, name), f'unknown field "{name}"{hint}'))

    def _action(self, name: str, step: _Mapping, path: Path) -> Action | None:
        value, at = step[name], (*path, name)
        match name:
            case "create":
                return self._create(value, step, path)
            case "patch":
                return self._patch(value, at)
            case "delete":
                return self._delete(value, at)
            case "cordon" | "uncordon":
                return Cordon(self._node(value, at), name == "cordon")
            case "drain":
                return Drain(self._node(value, at))
            case "taint":
                return self._add_taint(value, at)
            case "untaint":
                return self._remove_taint(value, at)
            case _:
                return self._scale(value, at)

    def _create(self, value: JsonValue, step: _Mapping, path: Path) -> Action:
        at = (*path, "create")
        given = {"copies": step["copies"]} if "copies" in step else {}
        copies = (decode(given, _Copies, path, self._problems) or _Copies()).copies
        if given and not 1 <= copies <= MAX_COPIES:
            detail = f"must be between 1 and {MAX_COPIES}"
            self._problems.append(invalid((*path, "copies"), copies, detail))
        if isinstance(value, list):
            objects = [self._object(item, (*at, i)) for i, item in enumerate(value)]
        else:
            objects = [self._object(value, at)]
        return Create(tuple(item for item in objects if item is not None), copies)

    def _object(self, value: JsonValue, path: Path) -> KubeObject | None:
        if not isinstance(value, Mapping):
            message = f"expected an object, got {describe(value)}"
            self._problems.append(Problem(path, message))
            return None
        try:
            return parse_object(value, Place())
        except ParseError as error:
            self._problems.append(Problem((*path, *_steps(error.field)), error.message))
            return None

    def _patch(self, value: JsonValue, path: Path) -> Action | None:
        merge = value.get("merge") if isinstance(value, dict) else None
        if isinstance(value, dict):
            value = {name: item for name, item in value.items() if name != "merge"}
        target = self._target(self._read(value, _Target, path, ("kind", "name")), path)
        if not isinstance(merge, dict):
            detail = "Required value: what to merge into the object, a mapping"
            self._problems.append(Problem((*path, "merge"), detail))
            return None
        if target is None:
            return None
        try:
            coerce_struct(without_nulls(merge), target.kind)
        except FieldError as error:
            self._problems.append(Problem((*path, "merge", *_steps(error.field)), error.message))
        return Patch(target, dict(merge))

    def _delete(self, value: JsonValue, path: Path) -> Action | None:
        written = self._read(value, _Delete, path, ("kind", "name"))
        target = self._target(written, path)
        if written is None or target is None:
            return None
        return Delete(target, written.grace_period_seconds)

    def _add_taint(self, value: JsonValue, path: Path) -> Action | None:
        written = self._read(value, _AddTaint, path, ("node", "key", "effect"))
        if written is None:
            return None
        self._check_effect(written.effect, path)
        taint = Taint(key=written.key, value=written.value, effect=written.effect)
        return AddTaint(written.node, taint)

    def _remove_taint(self, value: JsonValue, path: Path) -> Action | None:
        written = self._read(value, _RemoveTaint, path, ("node", "key"))
        if written is None:
            return None
        if written.effect:
            self._check_effect(written.effect, path)
        return RemoveTaint(written.node, written.key, written.effect)

    def _scale(self, value: JsonValue, path: Path) -> Action | None:
        written = self._read(value, _Scale, path, ("kind", "name", "replicas"))
        if written is None:
            return None
        replicas = written.replicas
        if replicas is None or not 0 <= replicas <= MAX_REPLICAS:
            detail = f"must be between 0 and {MAX_REPLICAS}"
            self._problems.append(invalid((*path, "replicas"), replicas, detail))
            return None
        return Scale(written.kind, written.namespace or "default", written.name, replicas)

    # ------------------------------------------------------------ parts of steps

    def _read(
        self, value: JsonValue, into: type[_Required], path: Path, required: tuple[str, ...]
    ) -> _Required | None:
        """Decode the fields of an action; None if that fails or a required one is missing."""
        written = decode(value, into, path, self._problems) if value is not None else into()
        if written is None:
            return None
        missing = [name for name in required if getattr(written, name) in ("", None)]
        self._problems.extend(Problem((*path, name), "Required value") for name in missing)
        return None if missing else written

    def _target(self, written: _Target | None, path: Path) -> Target | None:
        if written is None:
            return None
        kind = KINDS.get(written.kind)
        if kind is None:
            names = tuple(sorted(KINDS))
            self._problems.append(not_supported((*path, "kind"), written.kind, names))
            return None
        namespace = (written.namespace or "default") if kind.namespaced else ""
        return Target(kind, namespace, written.name)

    def _node(self, value: JsonValue, path: Path) -> str:
        if not isinstance(value, str) or not value:
            self._problems.append(Problem(path, f"expected a node's name, got {describe(value)}"))
            return ""
        return value

    def _check_effect(self, effect: str, path: Path) -> None:
        if effect not in EFFECTS:
            self._problems.append(not_supported((*path, "effect"), effect, EFFECTS))

    def _list(self, value: JsonValue, path: Path) -> list[JsonValue]:
        if value is None:
            return []
        if not isinstance(value, list):
            self._problems.append(Problem(path, f"expected a list, got {describe(value)}"))
            return []
        return value


def _steps(field_path: str) -> Path:
    """Return the steps of a field path such as `spec.containers[0].image`."""
    return tuple(
        int(index) if index.isdecimal() else index or name
        for index, name in _SEGMENT.findall(field_path)
    )
