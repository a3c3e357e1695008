"""Which kinds are read from an API server, and where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scheduler_core.api.plurals import PLURALS
from scheduler_core.api.types import KINDS


@dataclass(frozen=True)
class Resource:
    """A kind as an API server offers it; `api_versions` are those kviz can read, best first."""

    kind: str
    plural: str
    api_versions: tuple[str, ...]

    @property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.api_versions[0].rpartition("/")[0]

    @property
    def name(self) -> str:
        """`nodes`, `replicasets.apps`: as kubectl and error messages call it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, api_version: str) -> str:
        """Where its objects of all namespaces are listed and watched."""
        root = "/apis" if "/" in api_version else "/api"
        return f"{root}/{api_version}/{self.plural}"


RESOURCES: Final = {
    kind: Resource(kind, plural, (KINDS[kind].api_version, *KINDS[kind].also_read))
    for kind, plural in PLURALS.items()
}
EVENTS: Final = Resource("Event", "events", ("v1",))
"""What happened, in the scheduler's own words; an import does without."""
