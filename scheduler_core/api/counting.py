"""How many there are of something, in words."""

from typing import Final

from scheduler_core.wording import say

POD: Final = say("pod")
OBJECT: Final = say("object")
MORE_OBJECT: Final = say("more object")


def counted(count: int, singular: str) -> str:
    """``1 pod``, ``2 pods``."""
    if count == 1:
        return say("{n:,} {what}", n=count, what=singular)
    return say("{n:,} {what}s", n=count, what=singular)
