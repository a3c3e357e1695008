"""The cyclic garbage collector, out of the way while a cluster is read or loaded."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Switches the cyclic garbage collector off while many objects without cycles are made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def gc_spared() -> Iterator[None]:
    """Pauses the garbage collector, too, while objects are made that are kept.

    Afterwards they count as old ones. Otherwise its next round would traverse them all, only to
    find that they are in use.
    """
    with gc_paused():
        yield
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()


@contextmanager
def gc_frozen(load: Callable[[], None]) -> Iterator[None]:
    """Freeze what `load` makes until the end of the block: the garbage collector skips it.

    Otherwise it would traverse a whole cluster again and again. Cycles are collected afterwards.
    A process that has frozen other objects already is left alone: unfreezing the cluster would
    unfreeze those, too.
    """
    with gc_paused():
        load()
        freezes = not gc.get_freeze_count()
        if freezes:
            gc.freeze()
    try:
        yield
    finally:
        if freezes:
            gc.unfreeze()
