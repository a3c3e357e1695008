"""The words about plugins, a file each in `plugins/`, and what a scheduler's message means in them.

They are English here, and need no Django; `plugin_guide.py` has them in the reader's language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

from msgspec import field

from kviz.reference.form import Part, Prose, read_file
from scheduler_core.evidence.fit_error import Counted, fit_error, todays_reason
from scheduler_core.wording import SEMICOLON, say, series

FOLDER: Final = Path(__file__).with_name("plugins")
_PLACEHOLDER: Final = re.compile(r"NAME\\ \\.\\.\\.|NAME|RESOURCE")


class Reason(Part, frozen=True):
    """One failure text, verbatim, with what it means and what helps.

    With UnschedulableAndUnresolvable the node could not take the pod even if every other pod left
    it: no preemption there.
    """

    text: str
    code: Literal["Unschedulable", "UnschedulableAndUnresolvable"]
    means: Prose
    helps: Prose


class Formula(Part, frozen=True):
    """The arithmetic of a score; `code` is notation, in which `{weight}` is the plugin's."""

    code: str
    text: Prose


class PluginText(Part, frozen=True):
    """The words about one plugin: by extension point what it does, by argument what that sets.

    `reads` names the fields it looks at; `upstream` is its folder below pkg/scheduler/framework,
    empty for a plugin of kviz's own. `{default}` in a setting is the argument's default.
    """

    purpose: Prose
    points: dict[str, Prose]
    upstream: str = ""
    reads: tuple[str, ...] = ()
    formula: Formula | None = None
    reasons: tuple[Reason, ...] = ()
    settings: dict[str, Prose] = field(default_factory=dict)
    traps: tuple[Prose, ...] = ()


@cache
def plugin_texts() -> Mapping[str, PluginText]:
    """Return the English words by plugin. Raises ValueError for a file that is wrong."""
    return {file.stem: read_file(file, PluginText) for file in sorted(FOLDER.glob("*.yaml"))}


def pattern_of(reason: Reason) -> re.Pattern[str]:
    """Takes anything where the reason has a placeholder."""
    return re.compile(_PLACEHOLDER.sub(".+", re.escape(reason.text)))


def message_in_words(message: str, put: Callable[[str], str] = str) -> str:
    """Return a scheduler's message with what its reasons mean, which `put` may translate.

    The message alone if it has no reason that a plugin of the tree gives.
    """
    found = fit_error(message)
    meant = [_in_words(each, put) for each in found.reasons] if found is not None else []
    if not any(meant):
        return message
    return say(
        "message.decoded",
        "{message} This means: {meaning}.",
        message=f"{message.rstrip('.')}.",
        meaning=series(filter(None, meant), SEMICOLON),
    )


def _in_words(reason: Counted, put: Callable[[str], str]) -> str:
    for name, text in plugin_texts().items():
        for each in text.reasons:
            if pattern_of(each).fullmatch(todays_reason(reason.reason)):
                return say(
                    "message.meaning",
                    "{n} x {plugin}: {means}",
                    n=reason.n_nodes or 1,
                    plugin=name,
                    means=put(each.means).rstrip("."),
                )
    return ""
