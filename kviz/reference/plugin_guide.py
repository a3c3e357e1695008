"""The plugin reference: what each plugin does, in kviz's words, beside what the engine knows of it.

The words are a file each in `plugins/`; points, weight, order, events and defaults are the
engine's (`plugin_facts.py`). A text that misses a point of its plugin, or has one too many, is
refused when the reference is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy
from msgspec import field

from kviz.reference.form import Part, Prose, read_file, with_prose
from kviz.reference.plugin_facts import PluginFacts, plugin_facts
from scheduler_core.evidence.fit_error import Counted, fit_error, todays_reason
from scheduler_core.releases import LATEST
from scheduler_core.teaching import TEACHING_PLUGINS
from scheduler_core.wording import SEMICOLON, say, series

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

FOLDER: Final = Path(__file__).with_name("plugins")


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


@dataclass(frozen=True)
class PluginGuide:
    """One plugin: `text` is translated when it is shown, `facts` are the engine's."""

    name: str
    text: PluginText
    facts: PluginFacts

    @property
    def points(self) -> list[tuple[str, str]]:
        """Each extension point of the plugin, and what it does there."""
        return [(point, self.text.points[point]) for point in self.facts.points]

    @property
    def formula(self) -> str:
        code = self.text.formula.code if self.text.formula else ""
        return code.replace("{weight}", str(self.facts.weight))

    @property
    def settings(self) -> list[tuple[str, str | _StrPromise]]:
        """Each argument of the plugin, and what it sets."""
        defaults = self.facts.defaults
        return [
            (name, format_lazy(text, default=defaults.get(name, "")))
            for name, text in self.text.settings.items()
        ]


def guides(release: str = LATEST.name) -> list[PluginGuide]:
    """Return the plugins of a release's default profile, in its order."""
    return [guide for guide in _all(release).values() if guide.name not in TEACHING_PLUGINS]


def teaching_guides() -> list[PluginGuide]:
    """Return kviz's own plugins, which no profile has unless a configuration enables them."""
    return [guide for guide in _all(LATEST.name).values() if guide.name in TEACHING_PLUGINS]


def guide_of(name: str, release: str = LATEST.name) -> PluginGuide | None:
    """The guide of a plugin as of a release, or None for a name kviz does not know."""
    return _all(release).get(name)


def reason_guide(text: str, code: str = "") -> tuple[PluginGuide, Reason] | None:
    """The plugin that says `text` and what it means; capital words in a reason stand for names.

    The same words can mean more or less depending on the status `code`, if that is known.
    """
    said = todays_reason(text)
    found = [(guide, reason) for pattern, guide, reason in _patterns() if pattern.fullmatch(said)]
    exact = [(guide, reason) for guide, reason in found if reason.code == code]
    return next(iter(exact or found), None)


@cache
def plugin_texts() -> Mapping[str, PluginText]:
    """Return the English words by plugin. Raises ValueError for a file that is wrong."""
    return {file.stem: read_file(file, PluginText) for file in sorted(FOLDER.glob("*.yaml"))}


@cache
def _all(release: str) -> Mapping[str, PluginGuide]:
    return {name: _guide(name, facts) for name, facts in plugin_facts(release).items()}


def _guide(name: str, facts: PluginFacts) -> PluginGuide:
    text = plugin_texts()[name]
    if unlike := set(text.points) ^ set(facts.points):
        raise ValueError(f"{name}.yaml: points: the engine says otherwise of {sorted(unlike)}")
    return PluginGuide(name, with_prose(text, gettext_lazy), facts)


_PLACEHOLDER = re.compile(r"NAME\\ \\.\\.\\.|NAME|RESOURCE")


@cache
def _patterns() -> list[tuple[re.Pattern[str], PluginGuide, Reason]]:
    return [
        (_pattern(reason), guide, reason)
        for guide in _all(LATEST.name).values()
        for reason in guide.text.reasons
    ]


def _pattern(reason: Reason) -> re.Pattern[str]:
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
            if _pattern(each).fullmatch(todays_reason(reason.reason)):
                return say(
                    "message.meaning",
                    "{n} x {plugin}: {means}",
                    n=reason.n_nodes or 1,
                    plugin=name,
                    means=put(each.means).rstrip("."),
                )
    return ""
