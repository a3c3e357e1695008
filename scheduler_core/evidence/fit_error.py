"""Take a `0/216 nodes are available: ...` message apart, also in the wording of older releases."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_HEAD: Final = re.compile(r"(\d+)/(\d+) nodes are available(?::\s*|(?=[.\s]|$))")
_COUNTED: Final = re.compile(r"(\d+) (.+)", re.DOTALL)
_NEXT_CLAUSE: Final = re.compile(r", (?=\d+ )")
_OLDER: Final = (
    (re.compile(r"node\(s\) had (?:untolerated )?taint \{.*"), "node(s) had untolerated taint(s)"),
    (
        re.compile(r"node\(s\) had taints that the pod didn't tolerate"),
        "node(s) had untolerated taint(s)",
    ),
    (
        re.compile(r"node\(s\) didn't match (?:node selector|Pod's node affinity)"),
        "node(s) didn't match Pod's node affinity/selector",
    ),
    (
        re.compile(r"node\(s\) had volume node affinity conflict"),
        "node(s) didn't match PersistentVolume's node affinity",
    ),
)
"""How older releases (up to v1.35) said what the releases that kviz follows say otherwise."""
_END: Final = re.compile(r"\.(?:,?\s+|$)")
"""Preemption's reasons end with a dot; what another PostFilter plugin says follows a comma."""


class Counted(NamedTuple):
    """One reason and how many nodes it stands for; `n_nodes` is None if it stands for the pod."""

    n_nodes: int | None
    reason: str


class FitError(NamedTuple):
    """`reasons` are Filter's, `preemption` those of the dry runs, `tail` other text."""

    n_nodes: int
    reasons: tuple[Counted, ...]
    preemption: tuple[Counted, ...]
    tail: str


def fit_error(message: str) -> FitError | None:
    """Take a message apart; None if it is no such message."""
    head = _HEAD.search(message)
    if head is None:
        return None
    body, rest = _split_sentence(message[head.end() :])
    second = _HEAD.search(rest)
    preemption, others = "", [rest]
    if second is not None:
        preemption, after = _split_sentence(rest[second.end() :])
        others = [rest[: second.start()], after]
    tail = ", ".join(each for part in others if (each := part.strip(" ,:")))
    return FitError(int(head.group(2)), _counted(body), _counted(preemption), tail)


def todays_reason(reason: str) -> str:
    """Return a reason in the words of the releases that kviz follows."""
    return next((today for older, today in _OLDER if older.fullmatch(reason)), reason)


def reasons_in(message: str) -> str:
    """Filter's reasons of a message, without the count before and the preemption after them."""
    head = _HEAD.search(message)
    return message if head is None else _split_sentence(message[head.end() :])[0]


def _split_sentence(text: str) -> tuple[str, str]:
    """Cut at the dot that ends the reasons; dots inside names are followed by no space."""
    end = _END.search(text)
    return (text, "") if end is None else (text[: end.start()], text[end.end() :])


def _counted(text: str) -> tuple[Counted, ...]:
    return tuple(map(_clause, _NEXT_CLAUSE.split(text))) if text else ()


def _clause(text: str) -> Counted:
    found = _COUNTED.fullmatch(text)
    return Counted(int(found.group(1)), found.group(2)) if found else Counted(None, text)
