"""Writes: a run is created, opened from a file, paused, cancelled, deleted.

Claiming, executing and recording it is the work of `kviz.runs.execution`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import BinaryIO, Final, TypedDict, Unpack

import msgspec
import zstandard
from django.conf import settings
from django.db import DataError, IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import ngettext

from kviz import sentences
from kviz.accounts.audit import What, note_done
from kviz.accounts.models import Workspace
from kviz.common.limits import TooManyAtOnce
from kviz.run_file import RunFileError
from kviz.runs.execution.again import older_of
from kviz.runs.execution.append import chunk_store
from kviz.runs.execution.causes import AT_ONCE, causes_store
from kviz.runs.execution.claim import QUEUE as RUNS
from kviz.runs.execution.engine import check, check_changes
from kviz.runs.inputs import (
    changes_of,
    gates_of,
    invalid,
    refuse_hidden,
    release_for,
    rules_of,
    same_inputs,
)
from kviz.runs.known import Known
from kviz.runs.models import Run
from kviz.runs.portable import saved
from kviz.snapshots.models import Snapshot
from kviz.snapshots.samples import sample_of
from kviz.snapshots.services import snapshot_adopt
from kviz.snapshots.spooling import unnamed_file
from kviz.without_secrets import without_secrets
from scheduler_core.changes import Change, ChangeAt, Rules, document_of
from scheduler_core.changes.documents import Document
from scheduler_core.config import Problem
from scheduler_core.releases import stored_release
from scheduler_core.releases.choosing import AUTO
from scheduler_core.releases.table import TieBreak
from scheduler_core.trace.records import QueueOrder
from scheduler_core.wording import packed, say

MAX_NAME_CHARS: Final = 200


class StoredChange(TypedDict):
    """A change as a run's row has it; `change` is its document.

    `said` is the sentence with what it was made of, to be read in any language.
    """

    cycle: int
    change: Document
    sentence: str
    said: object


def run_create(*, workspace: Workspace, snapshot: Snapshot, **inputs: Unpack[RunInputs]) -> Run:
    """Queue a run. Raises InvalidInput, see `run_prepare`, and TooManyAtOnce."""
    _refuse_another(workspace)
    run = run_prepare(workspace=workspace, snapshot=snapshot, **inputs)
    run.save()
    RUNS.announce(run)
    return run


def _refuse_another(workspace: Workspace) -> None:
    """Raise TooManyAtOnce if the workspace has no place left in the queue."""
    most = settings.MAX_WAITING_RUNS
    waiting = Run.objects.filter(workspace=workspace, status=Run.Status.QUEUED, again_of=None)
    if most is None or waiting.count() < most:
        return
    text = ngettext(
        "You have %(n)d run waiting. Wait until it has begun, or cancel it.",
        "You have %(n)d runs waiting. Wait until one has begun, or cancel one.",
        most,
    )
    raise TooManyAtOnce(text % {"n": most})


class RunInputs(TypedDict, total=False):
    """What else decides a run; see `run_prepare`."""

    scheduler_config: str | None
    scenario: str | None
    seed: int
    release: str
    feature_gates: Mapping[str, bool] | None
    tie_break: TieBreak | None
    queue_order: QueueOrder
    changes: Sequence[Change]
    hidden_after: int | None
    known_part: str


def run_prepare(
    *,
    workspace: Workspace,
    snapshot: Snapshot,
    scheduler_config: str | None = None,
    scenario: str | None = None,
    seed: int = 0,
    release: str = AUTO,
    feature_gates: Mapping[str, bool] | None = None,
    tie_break: TieBreak | None = None,
    queue_order: QueueOrder = "listed",
    changes: Sequence[Change] = (),
    hidden_after: int | None = None,
    known_part: str = "",
) -> Run:
    """Make a run that is not stored; `changes` are made before it begins.

    Cycles beyond `hidden_after` are not simulated until they are revealed (`run_reveal`), but for
    `known_part` of the next.

    `release` is the name of a table, or `AUTO`: by what is known of the cluster. `scheduler_config`
    and `scenario` None are what a sample brings, else the default profile and nothing; `tie_break`
    None is the release's. Raises InvalidInput when configuration, scenario or gates are bad, or a
    change cannot be made.
    """
    sample = sample_of(snapshot)
    if scheduler_config is None:
        scheduler_config = sample.scheduler_config if sample else ""
    if scenario is None:
        scenario = sample.scenario if sample else ""
    chosen = release_for(release, snapshot)
    gates = gates_of(asked=feature_gates or {}, scenario=scenario, chosen=chosen)
    plugins = check(scheduler_config=scheduler_config, gates=gates)
    made: list[StoredChange] = []
    if changes:
        rules = Rules(scheduler_config, dict(gates.overrides), gates.release, {}, seed, queue_order)
        at_rest = [ChangeAt(change) for change in changes]
        accepted = check_changes(snapshot, rules, at_rest)
        plugins, made = accepted.plugins, stored_changes(at_rest, accepted.sentences)
    return Run(
        workspace=workspace,
        snapshot=snapshot,
        scheduler_config=scheduler_config,
        scenario=without_secrets(scenario),
        seed=seed,
        release=gates.release.name,
        release_told=chosen.told,
        feature_gates=dict(gates.overrides),
        tie_break=tie_break or gates.release.tie_break,
        queue_order=queue_order,
        out_of_tree_plugins=[asdict(plugin) for plugin in plugins],
        changes=made,
        hidden_after=hidden_after,
        known_part=known_part,
    )


def run_vary(
    *,
    workspace: Workspace,
    parent: Run,
    changes: Sequence[Change],
    cycle: int = 0,
    scenario: str | None = None,
) -> Run:
    """Queue a variant of a run: its inputs and changes, and `changes` made at a cycle.

    With cycle 0 the variant begins with them. It may have another `scenario`. Raises InvalidInput
    and TooManyAtOnce.
    """
    _refuse_another(workspace)
    variant = variant_prepare(
        workspace=workspace, parent=parent, changes=changes, cycle=cycle, scenario=scenario
    )
    variant.save()
    RUNS.announce(variant)
    return variant


def variant_prepare(
    *,
    workspace: Workspace,
    parent: Run,
    changes: Sequence[Change],
    cycle: int = 0,
    scenario: str | None = None,
) -> Run:
    """Make the variant that `run_vary` queues, without storing it. Raises InvalidInput."""
    snapshot = _refuse_fork(parent, cycle)
    inherited = changes_of(parent)
    made = [*inherited, *(ChangeAt(change, cycle) for change in changes)]
    accepted = check_changes(snapshot, rules_of(parent), made, len(inherited))
    return same_inputs(
        parent,
        workspace=workspace,
        out_of_tree_plugins=[asdict(plugin) for plugin in accepted.plugins],
        changes=stored_changes(made, accepted.sentences),
        n_inherited=len(inherited),
        scenario=parent.scenario if scenario is None else scenario,
        parent=parent,
        forked_at=cycle,
    )


def _refuse_fork(parent: Run, cycle: int) -> Snapshot:
    """Return the cluster of a run that may fork at a cycle. Raises InvalidInput."""
    if parent.snapshot is None or parent.is_observed:
        text = say(
            "run.observed_no_variants",
            "A real scheduler decided this run; only simulated runs have variants.",
        )
        raise invalid("parent", [Problem((), text)])
    refuse_hidden(parent)
    if not 0 <= cycle <= parent.cycles:
        text = say(
            "run.cycle_out_of_range",
            "The run has {n:,} cycles; 0 stands for its beginning.",
            n=parent.cycles,
        )
        raise invalid("cycle", [Problem((), text)])
    return parent.snapshot


def stored_changes(changes: Sequence[ChangeAt], sentences: Sequence[str]) -> list[StoredChange]:
    """Changes as a run's row has them."""
    return [
        {
            "cycle": each.cycle,
            "change": document_of(each.change),
            "sentence": sentence,
            "said": packed(sentence),
        }
        for each, sentence in zip(changes, sentences, strict=True)
    ]


def run_open(*, workspace: Workspace, file: BinaryIO) -> Run:
    """Store a run that was saved as a file, all of it or nothing. Raises RunFileError.

    The file is checked to its end before anything is written, so that no lock waits for it.
    """
    file.seek(0)
    with unnamed_file() as spool:
        found = saved.check(file, spool)
        try:
            with transaction.atomic():
                run = _run_store(workspace, found)
                note_done(What.UPLOAD, run.get_absolute_url())
        except (DataError, IntegrityError, OverflowError) as error:
            raise RunFileError(
                say("run_file.values_not_kviz", "This file holds values that no run of kviz has.")
            ) from error
    causes_store(run=run, max_work=AT_ONCE)
    return run


def _full_name(release: str) -> str:
    """Name a release that a file names, with its patch where the file was written before that."""
    known = stored_release(release)
    return known.name if known is not None else release


def _run_store(workspace: Workspace, found: saved.SavedRun) -> Run:
    made_of, index, outcome = found.inputs, found.index, found.outcome
    snapshot = None
    if found.has_cluster:
        like = found.snapshot()
        snapshot = snapshot_adopt(workspace=workspace, packed=made_of.objects, like=like)
    run = Run(
        workspace=workspace,
        kind=Run.Kind.OBSERVED if found.observed else Run.Kind.SIMULATED,
        name=made_of.name if found.observed else "",
        outcomes_told=found.outcomes_told,
        snapshot=snapshot,
        scheduler_config=without_secrets(made_of.scheduler_config),
        scenario=without_secrets(made_of.scenario),
        seed=made_of.seed,
        release="" if found.observed else _full_name(made_of.release),
        release_told=made_of.release_told,
        feature_gates=made_of.feature_gates,
        tie_break=made_of.tie_break,
        queue_order=made_of.queue_order,
        changes=stored_changes(found.changes, found.sentences),
        forked_at=max((each.cycle for each in found.changes), default=0),
        engine_version=found.engine_version,
        not_modelled=found.not_modelled,
        out_of_tree_plugins=[msgspec.structs.asdict(plugin) for plugin in made_of.plugins],
        status=outcome.status,
        cycles=index.n_cycles,
        bound=index.n_bound,
        pending=index.n_pending,
        last_seq=found.last_seq,
        trace_hash=outcome.trace_hash if outcome.status == Run.Status.FINISHED else "",
        stop_reason=found.stop_reason,
        error=sentences.spoken(outcome.error, outcome.said),
        finished_at=timezone.now(),
    )
    run.older = older_of(run)
    run.save()
    for part in found.parts():
        chunk_store(run=run, chunk=part.chunk, delta=part.delta)
    for answer in found.answers:
        values = msgspec.structs.asdict(answer) | {"body": zstandard.compress(answer.body)}
        run.extender_answers.create(**values)
    return run


def run_rename(*, run: Run, name: str) -> None:
    """Give a run a name; an empty one restores its cluster's."""
    Run.objects.filter(pk=run.pk).update(name=name.strip()[:MAX_NAME_CHARS])


def run_repeat_hidden(*, workspace: Workspace, run: Run, hidden_after: int) -> Run:
    """Queue a simulated run once more, hidden. Raises InvalidInput and TooManyAtOnce.

    The same inputs give the same trace, up to what is revealed.
    """
    _refuse_another(workspace)
    _refuse_fork(run, 0)
    repeated = same_inputs(run, workspace=workspace, name=run.name, hidden_after=hidden_after)
    repeated.save()
    return repeated


def run_pause(*, run: Run) -> bool:
    """Take a waiting or running run from its worker, until it is resumed; False if it is neither.

    What is stored stays. The worker notices when it next wants to store something.
    """
    active = Run.objects.filter(
        pk=run.pk,
        kind=Run.Kind.SIMULATED,
        status__in=(Run.Status.QUEUED, Run.Status.RUNNING),
    )
    return active.update(status=Run.Status.PAUSED, claimed_by="") == 1


def run_resume(*, run: Run) -> bool:
    """Queue a paused run again; it continues after its last stored event. False if not paused."""
    paused = Run.objects.filter(pk=run.pk, status=Run.Status.PAUSED)
    if paused.update(status=Run.Status.QUEUED, claims=0) != 1:
        return False
    RUNS.announce(run)
    return True


def run_reveal(*, run: Run, upto: Known | None) -> None:
    """Let a hidden run go on up to a moment; None: to its end. What is known stays known."""
    with transaction.atomic():
        hidden = Run.objects.select_for_update().filter(pk=run.pk, hidden_after__isnull=False)
        before = known.known if (known := hidden.first()) else None
        after = before.and_also(upto) if before and upto else None
        is_more = before is not None and after != before
        if is_more:
            words = after.words if after else ""
            hidden.update(hidden_after=after.cycle if after else None, known_part=words)
    if is_more:
        run_resume(run=run)
    run.refresh_from_db()


def run_cancel(*, run: Run) -> bool:
    """Stop a run that is not over; what it stored so far stays. False if it was over."""
    cancelled = Run.objects.filter(pk=run.pk, status__in=Run.LIVE).update(
        status=Run.Status.CANCELLED, finished_at=timezone.now()
    )
    RUNS.withdraw(run)
    return cancelled == 1


@transaction.atomic
def runs_delete(*, runs: Sequence[Run]) -> None:
    """Delete several runs, each as `run_delete` does, all or none."""
    with transaction.atomic():
        for run in runs:
            run_delete(run=run)


def run_delete(*, run: Run) -> None:
    note_done(What.DELETE, run.get_absolute_url())
    run.delete()
