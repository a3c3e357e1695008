"""Kubernetes v1.36.3: the gates of v1.36.2, and one mended search for devices."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from scheduler_core.releases.switches import Switches
from scheduler_core.releases.table import Release
from scheduler_core.releases.v1_36_2 import V1_36_2

V1_36_3: Final[Release] = replace(
    V1_36_2,
    name="1.36.3",
    switches=Switches(refused_devices_give_back=True),
    bugs=V1_36_2.bugs - {"refused_devices"},
)
