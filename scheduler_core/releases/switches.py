"""What releases of kube-scheduler do otherwise, each difference by a name of its own.

Off is what v1.36.2 does. Code asks a switch where it builds what behaves by it, and never which
release is followed. Single switches can be set otherwise in a copy of a table
(`msgspec.structs.replace`), to see what one difference alone makes of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from scheduler_core.wording import say


class Switches(Struct, frozen=True, kw_only=True):
    """The differences of one release from v1.36.2; `SWITCHES` says what each one is."""

    refused_devices_give_back: bool = False


class Switch(Struct, frozen=True):
    """What people are told of a switch that is on."""

    upstream: str
    """The change's number, as in `#135905`."""
    sentence: str


SWITCHES: Final[Mapping[str, Switch]] = {
    "refused_devices_give_back": Switch(
        "#140431",
        say(
            "switch.refused_devices_give_back",
            "A device that is refused or given up gives back everything the search had booked "
            "for it: counters, constraints, its mark as taken, capacity.",
        ),
    ),
}
"""By the name of the field, in the order in which people read them."""
