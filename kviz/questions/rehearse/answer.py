"""What an upgrade changes for a cluster that is scheduled by some rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from scheduler_core.analysis.rehearsal import Both, Carried, Rehearsal, Trials, carried
from scheduler_core.api import KubeObject
from scheduler_core.api.absent_kinds import absent_kinds
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.changes import Rules
from scheduler_core.config import FeatureGates, default_configuration, load_configuration
from scheduler_core.releases import RELEASES
from scheduler_core.releases.table import Release
from scheduler_core.sim import RunOptions
from scheduler_core.sim.not_modelled import inputs_not_modelled, panics


def newest_but(name: str) -> str:
    """Return the newest release that is another one."""
    return next(each for each in reversed(list(RELEASES)) if each != name)


@dataclass(frozen=True)
class Upgrade:
    """A cluster with what it is run with today, by `rules`, and the release it is to have."""

    objects: Sequence[KubeObject]
    old: RunOptions
    rules: Rules
    target: Release

    @cached_property
    def carried(self) -> Carried:
        """What the release makes of the rules. Raises ConfigError."""
        return carried(self.rules, self.target)

    @cached_property
    def gates(self) -> FeatureGates:
        """Of the new release."""
        return self.carried.rules.features()

    @cached_property
    def both(self) -> Both:
        """Run it under both releases. Raises ConfigError."""
        return Both(self.objects, self.old, self.options_for(self.gates), self.options_for)

    def options_for(self, features: FeatureGates) -> RunOptions:
        """What it is run with under gates of the new release. Raises ConfigError."""
        text = self.rules.configuration
        loaded = (
            load_configuration(text, features) if text.strip() else default_configuration(features)
        )
        return replace(
            self.old, configuration=self.carried.rules.changed(loaded), features=features
        )

    def answer(self, trials: Trials) -> Answer:
        """Run it, and find the causes of what differs. Raises ConfigError."""
        return Answer(self, self.both.explained(trials) if self.carried.starts else None)


@dataclass(frozen=True)
class Answer:
    """What comes of an upgrade; nothing is `found` where the scheduler would not start."""

    upgrade: Upgrade
    found: Rehearsal | None

    @property
    def panics(self) -> list[str]:
        """What makes the kube-scheduler of the new release panic."""
        upgrade = self.upgrade
        if self.found is not None:
            return list(self.found.panics)
        return list(panics(upgrade.objects, upgrade.old.configuration, upgrade.gates))

    @property
    def not_modelled(self) -> list[str]:
        """What the cluster asks for and kviz does not do, without the panics."""
        options = self.upgrade.old
        uncalled = options.configuration.extenders if options.transport is None else ()
        named = inputs_not_modelled(
            self.upgrade.objects,
            options.ignored,
            uncalled,
            options.left_out,
            options.configuration,
            options.features,
        )
        known = set(panics(self.upgrade.objects, options.configuration, options.features))
        return [each for each in named if each not in known]

    @property
    def incomplete(self) -> list[object]:
        """The kinds of objects that the cluster lacks."""
        found = absent_kinds(ClusterObjects(self.upgrade.objects), ignored=self.upgrade.old.ignored)
        return [each.document for each in found]
