"""The clusters at rest that are being played with, held in this process: a move takes one lock."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from kviz.by_hand.models import Game
from kviz.runs.execution.engine import table
from scheduler_core.analysis.model.by_hand import Table

MAX_HELD: Final = 8

_held: OrderedDict[UUID, tuple[threading.Lock, Table]] = OrderedDict()
_looking = threading.Lock()


@contextmanager
def table_of(game: Game) -> Iterator[Table]:
    """The game's table, nobody else asking it meanwhile. Raises InvalidInput."""
    with _looking:
        found = _held.get(game.pk)
        if found is None:
            found = _held[game.pk] = (threading.Lock(), table(game.run))
            while len(_held) > MAX_HELD:
                _held.popitem(last=False)
        _held.move_to_end(game.pk)
    lock, held = found
    with lock:
        yield held
