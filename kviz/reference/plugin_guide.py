"""The plugin reference: what each plugin does, in kviz's words, beside what the engine knows of it.

The words are those of `plugin_texts.py`; points, weight, order, events and defaults are the
engine's (`plugin_facts.py`). A text that misses a point of its plugin, or has one too many, is
refused when the reference is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from kviz.reference.form import with_prose
from kviz.reference.plugin_facts import PluginFacts, plugin_facts
from kviz.reference.plugin_texts import PluginText, Reason, pattern_of, plugin_texts
from scheduler_core.evidence.fit_error import todays_reason
from scheduler_core.releases import LATEST
from scheduler_core.teaching import TEACHING_PLUGINS

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


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
def _all(release: str) -> Mapping[str, PluginGuide]:
    return {name: _guide(name, facts) for name, facts in plugin_facts(release).items()}


def _guide(name: str, facts: PluginFacts) -> PluginGuide:
    text = plugin_texts()[name]
    if unlike := set(text.points) ^ set(facts.points):
        raise ValueError(f"{name}.yaml: points: the engine says otherwise of {sorted(unlike)}")
    return PluginGuide(name, with_prose(text, gettext_lazy), facts)


@cache
def _patterns() -> list[tuple[re.Pattern[str], PluginGuide, Reason]]:
    return [
        (pattern_of(reason), guide, reason)
        for guide in _all(LATEST.name).values()
        for reason in guide.text.reasons
    ]
