"""kviz's own plugins, made to show what no plugin of kube-scheduler shows.

They are written as anybody's plugin is, against `framework.interface` alone, and run only where a
configuration enables them. No kube-scheduler has them (docs/adr/0026).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scheduler_core.teaching.gang import TeachingGang

TEACHING_PLUGINS: Final[Mapping[str, type]] = {TeachingGang.name: TeachingGang}
"""By name; made with their arguments as they stand in the configuration, and a handle."""
