"""Changes in one line, as one types them: `node/n1 cordon`, `pod/shop/web set spec.priority=5`.

A contract of the command line (docs/changes.md). A change without a short form stands as its JSON
document, which may also replace a short one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from scheduler_core.api import KINDS, KubeObject, Node
from scheduler_core.api.coerce import Plain
from scheduler_core.api.errors import FieldError
from scheduler_core.changes.documents import document_of
from scheduler_core.changes.field_paths import field_path, text_of_value, value_of_text
from scheduler_core.changes.reading import ChangeReader, named_target
from scheduler_core.changes.vocabulary import (
    AddTaint,
    Change,
    CopyNode,
    Cordon,
    Delete,
    Drain,
    RemoveLabel,
    RemoveTaint,
    Scale,
    SetField,
    SetLabel,
    SetQueueOrder,
    SetScoring,
    SetSeed,
    SetWeight,
    SwitchGate,
    Target,
)
from scheduler_core.config.problems import ConfigError, Problem
from scheduler_core.config.source import text_value
from scheduler_core.config.types import JsonValue
from scheduler_core.wording import say, series

BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
"""What kube-scheduler takes for a truth value on its command line."""

_KINDS: Final = {name.lower(): kind for name, kind in KINDS.items()}
_NODE_FORMS: Final = (
    "cordon, uncordon, drain, taint K=V:EFFECT, untaint K, label K=V, unlabel K, "
    "set PATH=VALUE, copies N, delete"
)
_FORMS: Final = "set PATH=VALUE, delete"
_RULE_WORDS: Final = ("config", "gate", "seed", "queue-order", "weight", "scoring")

ReadFile = Callable[[str], str]
"""Gives the text of a file that a line names. Raises ConfigError."""


class ChangeError(ConfigError):
    """Changes are refused; every problem is listed."""


def refuse_files(name: str) -> str:
    """Read no file: what REST and forms do. Raises ChangeError."""
    raise _refused(
        say(
            "line.no_config_file",
            "config {name}: no file can be read here: give the configuration itself, "
            '{{"config": "..."}}',
            name=name,
        )
    )


def read_line(line: str, read_file: ReadFile = refuse_files) -> Change:
    """Read a change in one line. Raises ChangeError."""
    text = line.strip()
    if text.startswith("{"):
        return _document(text)
    subject, _, rest = text.partition(" ")
    rest = rest.strip()
    if subject in _RULE_WORDS:
        return _rule(subject, rest, read_file)
    return _of_object(subject, rest)


def is_line(text: str) -> bool:
    """Whether a text begins as a change in one line does."""
    subject, _, rest = text.strip().partition(" ")
    word, slash, _ = subject.partition("/")
    if subject.startswith("{") or subject in _RULE_WORDS:
        return True
    return bool(rest and slash and word.lower() in _KINDS)


def _document(text: str) -> Change:
    try:
        value = text_value(text)
    except ConfigError as error:
        raise ChangeError(Problem(each.path, each.message) for each in error.problems) from None
    problems: list[Problem] = []
    change = ChangeReader(problems).change(value, ())
    if change is None:
        raise ChangeError(problems)
    return change


def _refused(message: str) -> ChangeError:
    return ChangeError([Problem((), message)])


def _expected(text: str, forms: str, subject: str) -> ChangeError:
    return _refused(
        say(
            "line.expected_forms",
            '"{text}": expected one of {forms} after {subject}',
            text=text,
            forms=forms,
            subject=subject,
        )
    )


# ---------------------------------------------------------------- objects


def _of_object(subject: str, rest: str) -> Change:
    verb, _, argument = rest.partition(" ")
    argument = argument.strip()
    if verb == "scale":
        return _scale(subject, argument)
    target = _target(subject)
    if verb == "delete" and not argument:
        return Delete(target)
    if verb == "set":
        return _set(target, argument)
    if target.kind is Node:
        return _of_node(target.name, verb, argument)
    raise _expected(f"{subject} {rest}", _FORMS, subject)


def _target(subject: str) -> Target:
    word, *names = subject.split("/")
    kind = _KINDS.get(word.lower())
    if kind is None or not all(names) or not _fits(kind, names):
        raise _refused(
            say(
                "line.no_object",
                '"{text}" names no object: write node/NAME, pod/NAMESPACE/NAME or another kind '
                "that is modelled; or one of {words}",
                text=subject,
                words=series(_RULE_WORDS),
            )
        )
    return named_target(kind, names[0] if len(names) == 2 else "", names[-1])


def _fits(kind: type[KubeObject], names: list[str]) -> bool:
    return len(names) == 1 or (len(names) == 2 and kind.namespaced)


def _set(target: Target, argument: str) -> Change:
    path, equals, text = _at_equals(argument)
    if not equals:
        raise _refused(
            say("line.expected_set", '"{text}": expected set PATH=VALUE', text=f"set {argument}")
        )
    try:
        where = field_path(path.strip(), target.kind)
        value = value_of_text(text.strip(), where)
    except FieldError as error:
        problem = say(
            "field.message", "{field}: {message}", field=error.field, message=error.message
        )
        raise _refused(say("list.what_why", "{what}: {why}", what=target, why=problem)) from None
    return SetField(target, str(where), value)


def _at_equals(argument: str) -> tuple[str, str, str]:
    """Split at the first `=` outside of brackets."""
    depth = 0
    for i, character in enumerate(argument):
        depth += (character == "[") - (character == "]")
        if character == "=" and depth == 0:
            return argument[:i], "=", argument[i + 1 :]
    return argument, "", ""


def _scale(subject: str, argument: str) -> Change:
    kind, *names = subject.split("/")
    if not kind or len(names) not in (1, 2) or not all(names):
        raise _refused(
            say(
                "line.expected_scale",
                '"{text}": expected KIND/NAMESPACE/NAME before scale',
                text=subject,
            )
        )
    namespace = names[0] if len(names) == 2 else "default"
    document = {
        "kind": _OWNERS.get(kind.lower(), kind),
        "namespace": namespace,
        "name": names[-1],
        "replicas": _number(argument, "scale"),
    }
    return _checked({"scale": document})


_OWNERS: Final = {
    kind.lower(): kind
    for kind in ("Deployment", "ReplicaSet", "StatefulSet", "Job", "ReplicationController")
}


def _of_node(node: str, verb: str, argument: str) -> Change:
    match verb:
        case "cordon" | "uncordon" | "drain" if not argument:
            return _checked({verb: node})
        case "taint" if argument:
            return _taint(node, argument)
        case "untaint" if argument:
            key, _, effect = argument.partition(":")
            return _checked({"untaint": {"node": node, "key": key, "effect": effect}})
        case "label" if "=" in argument:
            key, _, value = argument.partition("=")
            return _checked({"label": {"node": node, "key": key, "value": value}})
        case "unlabel" if argument:
            return _checked({"unlabel": {"node": node, "key": argument}})
        case "copies":
            return _checked({"copyNode": {"node": node, "copies": _number(argument, "copies")}})
    text = f"{verb} {argument}".strip()
    raise _expected(text, _NODE_FORMS, f"node/{node}")


def _taint(node: str, argument: str) -> Change:
    head, colon, effect = argument.rpartition(":")
    if not colon:
        raise _refused(
            say(
                "line.expected_taint",
                '"{text}": expected taint K=V:EFFECT or taint K:EFFECT',
                text=f"taint {argument}",
            )
        )
    key, _, value = head.partition("=")
    return _checked({"taint": {"node": node, "key": key, "value": value, "effect": effect}})


def _number(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _refused(
            say("line.expected_number", '"{text}": expected a whole number', text=f"{what} {text}")
        ) from None


def _checked(document: Mapping[str, Plain]) -> Change:
    """Read a document as it would be read anywhere, so that the same rules hold."""
    problems: list[Problem] = []
    value: JsonValue = dict(document)  # type: ignore[arg-type]
    change = ChangeReader(problems).change(value, ())
    if change is None:
        raise ChangeError(problems)
    return change


# ---------------------------------------------------------------- rules


def _rule(word: str, rest: str, read_file: ReadFile) -> Change:
    match word:
        case "config":
            if not rest:
                raise _refused(say("line.expected_config", "config: expected a file after it"))
            return _checked({"config": read_file(rest)})
        case "gate":
            return read_gate(rest)
        case "seed":
            return _checked({"seed": _number(rest, word)})
        case "queue-order":
            return _checked({"queueOrder": rest})
        case "scoring":
            return _scoring(rest)
        case _:
            plugin, _, weight = rest.partition("=")
            document = {"plugin": plugin.strip(), "weight": _number(weight.strip(), word)}
            return _checked({"weight": document})


def _scoring(rest: str) -> Change:
    """Read `STRATEGY`, or `STRATEGY UTILIZATION=SCORE,...`."""
    strategy, _, shape = rest.partition(" ")
    points: list[Plain] = []
    for point in filter(None, shape.replace(" ", "").split(",")):
        utilization, _, score = point.partition("=")
        points.append(
            {"utilization": _number(utilization, "scoring"), "score": _number(score, "scoring")}
        )
    return _checked({"scoring": {"type": strategy, **({"shape": points} if points else {})}})


def read_gate(part: str) -> SwitchGate:
    """Read `NAME=true|false`, in the words that kube-scheduler takes. Raises ChangeError."""
    name, equals, value = (piece.strip() for piece in part.partition("="))
    if not equals:
        raise _refused(f"missing bool value for {name}, expected NAME=true|false")
    if value not in BOOLEANS:
        raise _refused(f"invalid value of {name}={value}, expected true or false")
    return SwitchGate(name, BOOLEANS[value])


# ---------------------------------------------------------------- writing


def line_of(change: Change) -> str:
    """Return a change in one line: the short form if there is one that says all of it."""
    short = _short(change)
    return short or msgspec.json.encode(document_of(change)).decode()


def _short(change: Change) -> str:
    match change:
        case SetField(target, path, value):
            where = field_path(path, target.kind)
            subject = _subject(target)
            return f"{subject} set {path}={text_of_value(value, where)}" if subject else ""
        case Delete(target, None):
            subject = _subject(target)
            return f"{subject} delete" if subject else ""
        case Scale(kind, namespace, name, replicas) if _are_names(kind, namespace, name):
            known = _OWNERS.get(kind.lower(), kind) == kind
            return f"{kind}/{namespace}/{name} scale {replicas}" if known else ""
        case SwitchGate(gate, enabled) if _are_names(gate):
            return f"gate {gate}={str(enabled).lower()}"
        case SetSeed(seed):
            return f"seed {seed}"
        case SetQueueOrder(order):
            return f"queue-order {order}"
        case SetWeight(plugin, weight) if _are_names(plugin):
            return f"weight {plugin}={weight}"
        case SetScoring(strategy, shape):
            points = ",".join(f"{utilization}={score}" for utilization, score in shape)
            return f"scoring {strategy.value} {points}".rstrip()
        case _:
            return _short_of_node(change)


def _short_of_node(change: Change) -> str:
    match change:
        case Cordon(node, unschedulable) if _are_names(node):
            return f"node/{node} {'cordon' if unschedulable else 'uncordon'}"
        case Drain(node) if _are_names(node):
            return f"node/{node} drain"
        case AddTaint(node, taint) if _are_names(node) and _are_keys(taint.key, taint.value):
            value = f"={taint.value}" if taint.value else ""
            return f"node/{node} taint {taint.key}{value}:{taint.effect}"
        case RemoveTaint(node, key, effect) if _are_names(node) and _are_keys(key):
            return f"node/{node} untaint {key}{f':{effect}' if effect else ''}"
        case SetLabel(node, key, value) if _are_names(node) and _are_keys(key, value):
            return f"node/{node} label {key}={value}"
        case RemoveLabel(node, key) if _are_names(node) and _are_keys(key):
            return f"node/{node} unlabel {key}"
        case CopyNode(node, copies) if _are_names(node):
            return f"node/{node} copies {copies}"
        case _:
            return ""


def _subject(target: Target) -> str:
    names = [target.namespace, target.name] if target.kind.namespaced else [target.name]
    if not _are_names(*names):
        return ""
    return "/".join([target.kind.kind.lower(), *names])


_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_KEY: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?")


def _are_names(*texts: str) -> bool:
    """Whether nothing in the names would end a word of the line early."""
    return all(_NAME.fullmatch(text) for text in texts)


def _are_keys(*texts: str) -> bool:
    """Whether texts may stand where labels and taints do; an empty one may."""
    return all(_KEY.fullmatch(text) or not text for text in texts)
