"""The Kubernetes releases kviz knows, one table each: what differs between them is data.

Another release is another module here, named in `RELEASES`, and its recordings.
"""

from collections.abc import Mapping
from typing import Final

from scheduler_core.releases.table import Release
from scheduler_core.releases.v1_36 import V1_36

RELEASES: Final[Mapping[str, Release]] = {release.name: release for release in (V1_36,)}
"""By name, the oldest first."""

LATEST: Final = V1_36
"""What a run follows that names no release."""
