"""Reading rules: YAML or JSON, strictly, with every problem at its field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, get_args

from msgspec import field as wire

from scheduler_core.analysis.advice.rules.vocabulary import (
    NODE,
    Avoid,
    Bind,
    Demand,
    Evict,
    Headroom,
    Kind,
    Nodes,
    Pods,
    Rule,
    Spread,
    Survive,
    Utilisation,
)
from scheduler_core.api import LabelSelector, LabelSelectorRequirement, Pod
from scheduler_core.api.coerce import describe
from scheduler_core.api.selectors import label_selector_error
from scheduler_core.changes.reading import ChangeReader
from scheduler_core.changes.vocabulary import Create
from scheduler_core.config.decode import decode
from scheduler_core.config.problems import (
    ConfigError,
    Path,
    Problem,
    invalid,
    not_supported,
    required,
)
from scheduler_core.config.source import located, text_value
from scheduler_core.config.types import ConfigStruct, JsonValue

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
MAX_RULES: Final = 200
MAX_COPIES: Final = 10_000
ZONE: Final = "topology.kubernetes.io/zone"
SHORT_FORMS: Final = {"zone": ZONE}
"""Words that stand for labels everybody means by them."""

Struct = TypeVar("Struct", bound=ConfigStruct)


class _Requirement(ConfigStruct, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class _Nodes(ConfigStruct, frozen=True, kw_only=True):
    name: str = ""
    match_labels: dict[str, str] = wire(default_factory=dict)
    match_expressions: tuple[_Requirement, ...] = ()


class _Pods(_Nodes, frozen=True, kw_only=True):
    namespace: str = ""


class _Bind(ConfigStruct, frozen=True, kw_only=True):
    pods: _Pods | None = None


class _Spread(_Bind, frozen=True, kw_only=True):
    over: str = ""
    at_least: int = 0


class _Survive(_Bind, frozen=True, kw_only=True):
    loss_of: str = ""


class _Avoid(_Bind, frozen=True, kw_only=True):
    nodes: _Nodes | None = None


class _Evict(ConfigStruct, frozen=True, kw_only=True):
    nobody_above: int | None = None


class _Headroom(ConfigStruct, frozen=True, kw_only=True):
    copies: int = 0


class _Utilisation(ConfigStruct, frozen=True, kw_only=True):
    resource: str = ""
    below: str = ""
    nodes: _Nodes | None = None


class _Head(ConfigStruct, frozen=True, kw_only=True):
    name: str = ""


def load_rules(text: str | bytes) -> tuple[Rule, ...]:
    """Read rules from text: a list, or a mapping with a list `rules`. Raises ConfigError."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ConfigError([Problem((), "not UTF-8 text")]) from None
    try:
        return read_rules(text_value(text))
    except ConfigError as error:
        raise ConfigError(located(error.problems, text)) from None


def read_rules(value: JsonValue) -> tuple[Rule, ...]:
    """Read rules from a value. Raises ConfigError."""
    problems: list[Problem] = []
    path: Path = ()
    if isinstance(value, dict):
        text = "unknown field; rules are in the list `rules`"
        problems += [Problem((name,), text) for name in value if name != "rules"]
        path, value = ("rules",), value.get("rules")
    if not isinstance(value, list) or not value:
        raise ConfigError([*problems, required(path, "a list of rules")])
    if len(value) > MAX_RULES:
        raise ConfigError([Problem(path, f"{len(value)} rules; the limit is {MAX_RULES}")])
    read = [_Reader(problems, path, i).rule(item) for i, item in enumerate(value)]
    if problems:
        raise ConfigError(problems)
    return tuple(rule for rule in read if rule is not None)


class _Reader:
    """Reads one rule; problems are added to those of the others."""

    def __init__(self, problems: list[Problem], path: Path, place: int) -> None:
        self._problems = problems
        self._path: Path = (*path, place)
        self._place = place

    def rule(self, value: JsonValue) -> Rule | None:
        if not isinstance(value, dict):
            self._add(Problem(self._path, f"expected a mapping, got {describe(value)}"))
            return None
        kinds = [kind for kind in KINDS if kind in value]
        head = {name: item for name, item in value.items() if name not in KINDS}
        written = decode(head, _Head, self._path, self._problems) or _Head()
        if len(kinds) != 1:
            found = "none" if not kinds else " and ".join(kinds)
            self._add(Problem(self._path, f"expected one of {', '.join(KINDS)}; got {found}"))
            return None
        kind = kinds[0]
        readers: dict[Kind, Callable[[JsonValue, Path], Demand | None]] = {
            "bind": self._bind,
            "spread": self._spread,
            "survive": self._survive,
            "avoid": self._avoid,
            "evict": self._evict,
            "headroom": self._headroom,
            "utilisation": self._utilisation,
        }
        known = len(self._problems)
        demand = readers[kind](value[kind], (*self._path, kind))
        if demand is None or len(self._problems) > known:
            return None
        return Rule(written.name or f"rule {self._place + 1}: {kind}", demand)

    # ------------------------------------------------------------ the demands

    def _bind(self, value: JsonValue, at: Path) -> Demand | None:
        written = self._read(value, _Bind, at)
        return None if written is None else Bind(self._pods(written.pods, at))

    def _spread(self, value: JsonValue, at: Path) -> Demand | None:
        written = self._read(value, _Spread, at)
        if written is None:
            return None
        self._check_at_least(written.at_least, (*at, "atLeast"), 1)
        over = self._label(written.over, (*at, "over"))
        return Spread(self._pods(written.pods, at), over, written.at_least)

    def _survive(self, value: JsonValue, at: Path) -> Demand | None:
        written = self._read(value, _Survive, at)
        if written is None:
            return None
        loss_of = written.loss_of
        if loss_of != NODE:
            loss_of = self._label(loss_of, (*at, "lossOf"))
        return Survive(self._pods(written.pods, at), loss_of)

    def _avoid(self, value: JsonValue, at: Path) -> Demand | None:
        written = self._read(value, _Avoid, at)
        if written is None:
            return None
        if written.nodes is None:
            self._add(required((*at, "nodes"), "which nodes"))
            return None
        return Avoid(self._pods(written.pods, at), self._nodes(written.nodes, (*at, "nodes")))

    def _evict(self, value: JsonValue, at: Path) -> Demand | None:
        written = self._read(value, _Evict, at)
        if written is None:
            return None
        if written.nobody_above is None:
            self._add(required((*at, "nobodyAbove"), "a priority"))
            return None
        return Evict(written.nobody_above)

    def _headroom(self, value: JsonValue, at: Path) -> Demand | None:
        pod = value.get("pod") if isinstance(value, dict) else None
        rest = {k: v for k, v in value.items() if k != "pod"} if isinstance(value, dict) else value
        written = self._read(rest, _Headroom, at)
        if written is None:
            return None
        self._check_at_least(written.copies, (*at, "copies"), 1, MAX_COPIES)
        template = self._template(pod, (*at, "pod"))
        return None if template is None else Headroom(template, written.copies)

    def _utilisation(self, value: JsonValue, at: Path) -> Demand | None:
        written = self._read(value, _Utilisation, at)
        if written is None:
            return None
        if not written.resource:
            self._add(required((*at, "resource"), "cpu, memory, ..."))
        nodes = self._nodes(written.nodes or _Nodes(), (*at, "nodes"))
        return Utilisation(written.resource, self._share(written.below, (*at, "below")), nodes)

    # ------------------------------------------------------------ their parts

    def _pods(self, written: _Pods | None, at: Path) -> Pods:
        at = (*at, "pods")
        if written is None:
            self._add(required(at, "which pods; {} for all"))
            return Pods()
        return Pods(written.namespace, written.name, self._labels(written, at))

    def _nodes(self, written: _Nodes, at: Path) -> Nodes:
        return Nodes(written.name, self._labels(written, at))

    def _labels(self, written: _Nodes, at: Path) -> LabelSelector:
        selector = LabelSelector(
            match_labels=written.match_labels,
            match_expressions=tuple(
                LabelSelectorRequirement(key=each.key, operator=each.operator, values=each.values)
                for each in written.match_expressions
            ),
        )
        if error := label_selector_error(selector):
            self._add(Problem(at, error))
        return selector

    def _label(self, written: str, at: Path) -> str:
        if not written:
            self._add(required(at, f"a label of nodes, or one of {', '.join(SHORT_FORMS)}"))
        return SHORT_FORMS.get(written, written)

    def _share(self, written: str, at: Path) -> float:
        number = written.removesuffix("%")
        try:
            share = float(number) / 100
        except ValueError:
            share = -1.0
        if not written.endswith("%") or not 0 < share <= 1:
            self._add(invalid(at, written, "must be a percentage above 0, such as 80%"))
        return share

    def _template(self, value: JsonValue, at: Path) -> Pod | None:
        if value is None:
            self._add(required(at, "the pod to copy, as Kubernetes writes it"))
            return None
        problems: list[Problem] = []
        change = ChangeReader(problems).action({"create": value}, (), ("create",))
        for each in problems:
            self._add(Problem((*at, *each.path[1:]), each.message))
        objects = change.objects if isinstance(change, Create) else ()
        pods = [item for item in objects if isinstance(item, Pod)]
        if not problems and len(pods) != 1:
            self._add(not_supported((*at, "kind"), objects[0].kind if objects else "", ("Pod",)))
        return pods[0] if pods else None

    def _check_at_least(self, n: int, at: Path, least: int, most: int = 2**31) -> None:
        if n < least:
            self._add(invalid(at, n, f"must be {least} or more"))
        if n > most:
            self._add(invalid(at, n, f"must be {most} or less"))

    def _read(self, value: JsonValue, into: type[Struct], at: Path) -> Struct | None:
        if not isinstance(value, dict):
            self._add(Problem(at, f"expected a mapping, got {describe(value)}"))
            return None
        return decode(value, into, at, self._problems)

    def _add(self, problem: Problem) -> None:
        self._problems.append(problem)
