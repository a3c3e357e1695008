"""What an upgrade changes, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kviz.questions.rehearse.answer import Answer
from scheduler_core.analysis.rehearsal import Kind, Rehearsal, ReleaseChange
from scheduler_core.wording import AND, SEMICOLON, say, series, some_of

CAUSES_NAMED: Final = 2


def sentences(answer: Answer) -> Iterator[str]:
    """Yield what makes the scheduler crash, the answer, and what else is different."""
    release, found = answer.upgrade.target.name, answer.found
    for panic in answer.panics:
        yield say(
            "rehearsal.crashes",
            "kube-scheduler v{release} can crash here: {panic}",
            release=release,
            panic=panic,
        )
    if found is None:
        yield say(
            "rehearsal.refuses",
            "kube-scheduler v{release} refuses this configuration and does not start.",
            release=release,
        )
    else:
        yield _ends(found)
        yield from _others(found)


def _ends(found: Rehearsal) -> str:
    if not found.apart:
        return say("rehearsal.all_end_as_before", "Every pod ends as before.")
    what = series(_moves(found), SEMICOLON)
    if causes := _causes(found, "end"):
        return say("rehearsal.because", "{what}, because of {causes}.", what=what, causes=causes)
    return say("rehearsal.unknown", "{what}; which change does it is not known.", what=what)


def _moves(found: Rehearsal) -> Iterator[str]:
    ends = found.comparison.ends
    if (n := len(ends.moved)) == 1:
        yield say("rehearsal.one_moves", "1 pod moves")
    elif n:
        yield say("rehearsal.some_move", "{n:,} pods move", n=n)
    if (n := len(ends.newly_pending)) == 1:
        yield say("rehearsal.one_pends", "1 pod becomes pending")
    elif n:
        yield say("rehearsal.some_pend", "{n:,} pods become pending", n=n)
    if (n := len(ends.newly_bound)) == 1:
        yield say("rehearsal.one_binds", "1 pending pod gets a node")
    elif n:
        yield say("rehearsal.some_bind", "{n:,} pending pods get a node", n=n)
    if (n := len(evicted(found))) == 1:
        yield say("rehearsal.one_evicted", "1 pod is evicted under one release only")
    elif n:
        yield say("rehearsal.some_evicted", "{n:,} pods are evicted under one release only", n=n)


def evicted(found: Rehearsal) -> list[str]:
    """Return the pods that are evicted under one of the releases, by name."""
    comparison = found.comparison
    return sorted(set(comparison.evicted_a) ^ set(comparison.evicted_b))


def _others(found: Rehearsal) -> Iterator[str]:
    if n := len(found.pods("message")):
        causes = _causes(found, "message")
        if n == 1:
            yield say(
                "rehearsal.one_told",
                "1 pod that ends as before gets other messages, because of {causes}.",
                causes=causes,
            )
        else:
            yield say(
                "rehearsal.some_told",
                "{n:,} pods that end as before get other messages, because of {causes}.",
                n=n,
                causes=causes,
            )
    if n := len(found.pods("tries")):
        causes = _causes(found, "tries")
        if n == 1:
            yield say(
                "rehearsal.one_tried",
                "1 pod that ends as before is tried another number of times: other events wake "
                "it, because of {causes}.",
                causes=causes,
            )
        else:
            yield say(
                "rehearsal.some_tried",
                "{n:,} pods that end as before are tried another number of times: other events "
                "wake them, because of {causes}.",
                n=n,
                causes=causes,
            )


def _causes(found: Rehearsal, kind: Kind) -> str:
    """Return the changes that most pods have as a cause; empty where none is known."""
    n_pods = found.causes(kind)
    most = sorted(n_pods, key=lambda name: -n_pods[name])
    if not most:
        return say("rehearsal.no_cause", "a change that is not known") if kind != "end" else ""
    names = [named(found.changes[name]) for name in most]
    if len(names) > CAUSES_NAMED:
        return some_of(names, most=CAUSES_NAMED)
    return series(names, AND)


def named(change: ReleaseChange) -> str:
    """Return the number of a change, or else its name."""
    return change.upstream or change.name


def how_to_keep(changes: Sequence[ReleaseChange], *, together: bool) -> str:
    """Return what keeps the old behaviour: one of the changes undone, or all of them `together`.

    Objects that are written otherwise may do it, where that is known.
    """
    undone = [each.undo for each in changes if each.undo]
    if not undone or (together and len(undone) < len(changes)):
        instead = [each.instead for each in changes if each.instead]
        if instead and not together:
            return instead[0]
        return say("rehearsal.nothing_keeps", "no gate or argument does")
    return f"--feature-gates {','.join(undone if together else undone[:1])}"


def about(change: ReleaseChange) -> str:
    """Return what a change is; of an older release, what is no longer so."""
    if change.is_new:
        return change.sentence
    return say("rehearsal.no_longer", "No longer so: {what}", what=change.sentence)
