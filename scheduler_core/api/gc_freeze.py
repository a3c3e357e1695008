"""The cyclic garbage collector, out of the way while a cluster is read or loaded."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_has_frozen = False
"""Whether objects of this process are frozen. `gc.get_freeze_count` counts them one by one, which
takes longer than a small run where a process has frozen all its code.
"""


def freeze() -> bool:
    """Freeze all objects: the garbage collector skips them. Return whether none were frozen yet."""
    global _has_frozen
    is_first, _has_frozen = not _has_frozen, True
    gc.freeze()
    return is_first


def unfreeze() -> None:
    """Let the garbage collector see everything again."""
    global _has_frozen
    _has_frozen = False
    gc.unfreeze()


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
        if not _has_frozen:
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
        freezes = not _has_frozen and freeze()
    try:
        yield
    finally:
        if freezes:
            unfreeze()
