"""The cyclic garbage collector, out of the way while a cluster is read or loaded."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Switches the cyclic garbage collector off while many objects without cycles are made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def collector_spared(load: Callable[[], None]) -> Iterator[None]:
    """Spares the collector what `load` makes, until the end of the block: it stays that long.

    Else it would look through a whole cluster time and again. Cycles are collected afterwards.
    A process that spares the collector other things already is left alone: giving the cluster
    back would give those back, too.
    """
    with collector_paused():
        load()
        spares = not gc.get_freeze_count()
        if spares:
            gc.freeze()
    try:
        yield
    finally:
        if spares:
            gc.unfreeze()
