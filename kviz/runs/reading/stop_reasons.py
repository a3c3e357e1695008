"""Why a run stopped early, in words that can be translated.

A trace and a run's row hold the English; here it is read back into what it was made of.
"""

from __future__ import annotations

import re
from typing import Final

from scheduler_core.wording import Text, say

_N: Final = r"(?P<n>\d+)"
_REASONS: Final = (
    say("stopped after {n} cycles", n=_N),
    say("stopped: no pod was bound for {n} s", n=_N),
    say("a live session holds at most {n} calls", n=_N),
    say("a live session holds at most {n} nodes", n=_N),
    say("a live session holds at most {n} pods", n=_N),
    say("a followed cluster tells at most {n} changes", n=_N),
)
"""Each reason with a pattern in the number's place."""


def stop_reason(text: str) -> str:
    """Return the reason that a run has, as a text with its values where it is a known one."""
    for reason in _REASONS:
        if found := re.fullmatch(reason, text):
            return Text(reason.template, found.groupdict())
    return text
