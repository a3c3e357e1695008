"""Replaying recordings of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kviz.conformance.cases import Case, CaseError
from kviz.conformance.cycle import replay_cycle
from kviz.conformance.dump import Dump
from kviz.conformance.dump_comparison import replay_dump
from kviz.conformance.result import CaseResult
from kviz.conformance.sequence import replay_sequence

REPLAYS: Mapping[str, Callable[[Case], CaseResult]] = {
    "cycle": replay_cycle,
    "sequence": replay_sequence,
}


def replay(recording: Case | Dump) -> Iterator[CaseResult]:
    """Yield the comparison of a case, or of each attempt of a dump.

    A case of which kviz does not model something is named and not replayed. A replay that breaks
    off counts as a difference, so that the others are still made. Raises CaseError if a dump's
    snapshot cannot be read.
    """
    try:
        if isinstance(recording, Dump):
            yield from replay_dump(recording)
        elif what := recording.not_modelled:
            yield CaseResult(recording.name, recording.release.name, what)
        else:
            yield REPLAYS[recording.mode](recording)
    except CaseError:
        raise
    except Exception as error:
        broken = CaseResult(recording.name, recording.release.name)
        broken.compare("replay", "", f"{type(error).__name__}: {error}")
        yield broken
