"""How many there are of something, in words."""

from typing import Final

from scheduler_core.wording import say

POD: Final = say("count.pod", "pod")
OBJECT: Final = say("count.object", "object")
MORE_OBJECT: Final = say("count.more_object", "more object")


def counted(count: int, singular: str) -> str:
    """``1 pod``, ``2 pods``."""
    if count == 1:
        return say("count.one", "{n:,} {what}", n=count, what=singular)
    return say("count.many", "{n:,} {what}s", n=count, what=singular)
