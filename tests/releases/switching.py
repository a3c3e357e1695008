"""A release that differs from v1.36.2 in one switch, which is the smallest difference there is."""

from msgspec.structs import replace

from scheduler_core.config import FeatureGates
from scheduler_core.releases import UNNAMED


def with_switch(name: str, on: bool) -> FeatureGates:
    """Return the gates of v1.36.2 with one switch set."""
    return FeatureGates((), replace(UNNAMED, switches=replace(UNNAMED.switches, **{name: on})))
