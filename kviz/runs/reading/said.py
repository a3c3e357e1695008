"""What a trace says in kviz's own words, to be said in other languages.

That is what is not modelled, what steps did, why pods had to leave and why a run stopped. A chunk
has it in English and leaves as it is stored (docs/adr/0005). Beside it goes, for who reads another
language, what each is in that language.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Final

from kviz import read_back
from scheduler_core.trace import codec
from scheduler_core.trace.events import (
    HeaderEvent,
    PodEvicted,
    RunFinished,
    RunStarted,
    ScenarioStepped,
)
from scheduler_core.wording import Text

_TAGS: Final = tuple(
    kind.__name__.encode() for kind in (RunStarted, ScenarioStepped, PodEvicted, RunFinished)
)


def said_in(headers: bytes) -> dict[str, str]:
    """Return what the stored headers of a chunk say, by its English, as texts with values."""
    unpacked = gzip.decompress(headers)
    if not any(tag in unpacked for tag in _TAGS):
        return {}
    texts = (text for event in codec.read_headers(headers)[1] for text in _texts(event))
    return {str(text): text for text in texts if isinstance(text, Text)}


def _texts(event: HeaderEvent) -> Iterator[str]:
    match event:
        case RunStarted():
            yield from map(read_back.note, event.not_modelled)
        case ScenarioStepped():
            yield read_back.step(event.text)
        case PodEvicted():
            yield read_back.eviction(event.reason)
        case RunFinished():
            yield read_back.stop_reason(event.reason)
