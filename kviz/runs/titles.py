"""What to call a run in front of people: its cluster, and what differs from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from django.utils.translation import gettext

from kviz.accounts.models import Workspace
from kviz.common.wording import translated
from kviz.runs.models import Run, ShareLink
from kviz.runs.presets import configuration_named, scenario_named
from kviz.runs.selectors import parent_of, runs_before, sentence_of
from kviz.snapshots.samples import sample_of
from kviz.snapshots.templatetags.snapshot_titles import title_of
from scheduler_core.changes import read_changes
from scheduler_core.changes.lines import ChangeError
from scheduler_core.changes.names import name_of
from scheduler_core.changes.vocabulary import SetQueueOrder, SetSeed, SwitchGate
from scheduler_core.config import FeatureGates
from scheduler_core.releases import UNNAMED, stored_release
from scheduler_core.releases.choosing import AUTO, chosen_release
from scheduler_core.trace.records import QueueOrder
from scheduler_core.wording import SEMICOLON, say, series

MAX_NAMED: Final = 3
"""So many differences stand in a name; more are counted."""
MAX_LOOKED_AT: Final = 50
"""So many of the latest runs are looked through for one to compare with."""


def run_title(run: Run) -> str:
    """The name people gave it, else its cluster and what differs: `small + tolerate gpu`."""
    if run.name:
        return run.name
    title = title_of(run.snapshot) if run.snapshot else gettext("Live session")
    return title + "".join(f" + {each}" for each in _named(differences(run)))


def differences(run: Run) -> list[str]:
    """What makes a run another one than its cluster's first, each in a few words."""
    if run.is_observed:
        return []
    return [translated(text) for text in (*_settings(run), *_release(run), *_changes(run))]


def differences_told(run: Run) -> str:
    """The same in sentences, with old values and new; empty for a cluster as it was uploaded.

    The release is left out: who shows this shows the release of every run.
    """
    if run.is_observed:
        return ""
    sentences = [*_settings(run), *(sentence_of(each) for each in run.changes)]
    return translated(series(sentences, SEMICOLON)) if sentences else ""


def run_before(run: Run, workspace: Workspace) -> Run | None:
    """The run to compare with: the latest that differs in one thing, else the latest."""
    before = list(runs_before(run=run, workspace=workspace)[:MAX_LOOKED_AT])
    mine = set(differences(run))
    one_thing = (each for each in before if len(mine ^ set(differences(each))) == 1)
    return next(one_thing, before[0] if before else None)


def run_beside(run: Run, workspace: Workspace) -> Run | None:
    """The run that this one was made of, else the latest that differs in one thing, if over."""
    parent = parent_of(run=run, workspace=workspace)
    if parent is not None:
        return parent if parent.is_over else None
    before = run_before(run, workspace)
    if before is None:
        return None
    return before if len({*differences(run)} ^ {*differences(before)}) == 1 else None


def _named(texts: list[str]) -> list[str]:
    if len(texts) <= MAX_NAMED:
        return texts
    more = say("short.more", "{n:,} more", n=len(texts) - MAX_NAMED + 1)
    return [*texts[: MAX_NAMED - 1], translated(more)]


def _settings(run: Run) -> Iterator[str]:
    """The rules that somebody chose for the run, and its scenario."""
    sample = sample_of(run.snapshot) if run.snapshot else None
    if run.scheduler_config != (sample.scheduler_config if sample else ""):
        yield configuration_named(run.scheduler_config)
    if run.scenario and run.scenario != (sample.scenario if sample else ""):
        yield scenario_named(run.scenario)
    for gate, enabled in changed_gates(run):
        yield name_of(SwitchGate(gate, enabled))
    if draws_ties(run):
        yield say("short.draws", "ties drawn")
    if run.queue_order != "listed":
        yield name_of(SetQueueOrder(cast("QueueOrder", run.queue_order)))
    if run.seed and run.seed_counts:
        yield name_of(SetSeed(run.seed))


def _release(run: Run) -> Iterator[str]:
    """The release that somebody chose, if it is not the one that the cluster's data lead to."""
    told = run.snapshot.release_told if run.snapshot else ""
    if told and run.release and run.release_name != chosen_release(AUTO, told).release.name:
        yield f"v{run.release_name}"


def _changes(run: Run) -> list[str]:
    try:
        return [
            name_of(change) for change in read_changes([each["change"] for each in run.changes])
        ]
    except ChangeError:  # of an older kviz
        return [sentence_of(each) for each in run.changes]


def changed_gates(run: Run) -> list[tuple[str, bool]]:
    """The gates that are not at the default of the run's release; all, if that is not known.

    Those that the release does not read are left out.
    """
    gates = sorted(run.feature_gates.items())
    release = stored_release(run.release) if run.release else None
    if release is None:
        return gates
    return list(FeatureGates(tuple(gates), release).changed.items())


def draws_ties(run: Run) -> bool:
    """Whether the run draws among equal nodes though its release does not."""
    release = stored_release(run.release) or UNNAMED
    return run.tie_break == "draw" and release.tie_break != "draw"


def ended_text(link: ShareLink) -> str:
    """Why a link opens nothing any more."""
    if link.revoked_at is not None:
        return gettext("This link was revoked: what it opened is no longer shared with it.")
    return gettext("This link has expired: what it opened is no longer shared with it.")
