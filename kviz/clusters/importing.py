"""A real cluster as it is now: every kind that scheduling reads, all at one moment.

The first list gives the resource version; the others are requested at exactly that one. Kinds that
are not available at it (compacted meanwhile, kept in another etcd) are read as they are now, and
named.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from kviz.clusters.reading.connection import PAGE_OBJECTS, Connection, Page
from kviz.clusters.reading.problems import (
    ClusterProblem,
    Expired,
    Forbidden,
    NotFound,
    Refusal,
    ServerFailed,
    StreamCut,
    TooManyRequests,
    Unauthorized,
    Unreachable,
    Untrusted,
)
from kviz.clusters.reading.resources import RESOURCES, Resource
from kviz.clusters.reading.server_version import server_version
from kviz.clusters.reading.targets import Protection, Target
from scheduler_core.api.errors import LimitError, ParseError, Place
from scheduler_core.api.findings import why_left_out
from scheduler_core.api.gc_freeze import gc_paused
from scheduler_core.api.ingest import Ingested, ListIntake
from scheduler_core.api.limits import Limits
from scheduler_core.wording import say

# How long reading waits for an API server that is busy, fails, or is away for a while.

FIRST_WAIT_S: Final = 0.5
LONGEST_WAIT_S: Final = 8.0


@dataclass
class Patience:
    """Waits before a request is sent again, `budget_s` seconds in all."""

    budget_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    _has_answered: bool = False
    _failures: int = 0
    """Since the last answer."""

    def answered(self) -> None:
        """The server answered: the next wait is a short one again."""
        self._has_answered, self._failures = True, 0

    def wait(self, problem: ClusterProblem) -> None:
        """Wait as long as this problem wants it. Raises it when that makes no sense, or no more.

        A server that has never answered is at a wrong address rather than away.
        """
        if not self._may_pass(problem):
            raise problem
        wait_s = min(FIRST_WAIT_S * 2**self._failures, LONGEST_WAIT_S)
        if isinstance(problem, Refusal) and problem.retry_after_s is not None:
            wait_s = max(problem.retry_after_s, FIRST_WAIT_S)
        if wait_s > self.budget_s:
            raise problem
        self._failures += 1
        self.budget_s -= wait_s
        self.sleep(wait_s)

    def _may_pass(self, problem: ClusterProblem) -> bool:
        if isinstance(problem, TooManyRequests | ServerFailed):
            return True
        if isinstance(problem, Untrusted):
            return False
        return self._has_answered and isinstance(problem, Unreachable | StreamCut)


NEEDED: Final = ("Node", "Pod")
"""Read first; without them there is nothing to schedule, or everything would look empty."""
MAX_RESTARTS: Final = 1
"""A list whose pages expired so often is asked for in one piece."""
ROLE_HINT: Final = say(
    "import.rbac_hint", "`kviz import --rbac` prints a ClusterRole that allows it"
)


class NotImported(ClusterProblem):
    """A cluster was reached, and cannot be imported all the same."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What was read, and how."""

    target: Target
    resource_version: str
    ingested: Ingested
    """Its warnings and what was left out say all of this in sentences, too."""
    refused: tuple[str, ...]
    """Kinds (`persistentvolumes`, `csinodes.storage.k8s.io`) that may not be listed."""
    later: tuple[str, ...]
    """Kinds read at another moment than the rest."""


Reads = Callable[[str, int], None]
"""Told after each page: the kind, and how many of its objects are still to come."""


def import_cluster(
    target: Target,
    *,
    patience: Patience | None = None,
    limits: Limits | None = None,
    reads: Reads = lambda kind, n_left: None,
) -> Imported:
    """Read a cluster. Raises ClusterProblem."""
    with Connection(target) as connection, gc_paused():
        intake = ListIntake(limits or Limits())
        reading = _Reading(connection, patience or Patience(), intake, reads)
        try:
            return reading.all()
        except LimitError as error:
            raise NotImported(f"The cluster cannot be imported: {error.message}.") from None


@dataclass
class _Reading:
    connection: Connection
    patience: Patience
    intake: ListIntake
    reads: Reads
    resource_version: str = ""
    refused: list[str] = field(default_factory=list)
    later: list[str] = field(default_factory=list)

    def all(self) -> Imported:
        rest = [kind for kind in RESOURCES if kind not in NEEDED]
        for kind in (*NEEDED, *rest):
            resource = RESOURCES[kind]
            try:
                self._list(resource)
            except NotFound:
                continue  # the server is older than the kind
            except Forbidden as problem:
                if kind in NEEDED:
                    raise NotImported(
                        f"kviz may not list {resource.name} of {self.connection.target.name}, and "
                        f"cannot do without: {problem.message}. {ROLE_HINT}."
                    ) from None
                self.refused.append(resource.name)
        return self._imported()

    def _list(self, resource: Resource) -> None:
        """Read one kind, at the moment of the first one if that is available."""
        if not self.resource_version:
            self.resource_version = self._at(resource, "")
            return
        try:
            self._at(resource, self.resource_version)
        except (Unauthorized, Forbidden, NotFound, TooManyRequests):
            raise
        except Refusal:
            self._at(resource, "")
            self.later.append(resource.name)

    def _at(self, resource: Resource, resource_version: str) -> str:
        """Take in a kind at a resource version, the newest for an empty one; return which it was.

        When it is forgotten between two pages, the newest state is read from the start: going on
        would mix two states.
        """
        for restart in range(MAX_RESTARTS + 2):
            limit = PAGE_OBJECTS if restart <= MAX_RESTARTS else 0
            self.intake.forget()
            try:
                for number, page in enumerate(self._pages(resource, resource_version, limit), 1):
                    self.intake.page(f"{resource.name} page {number}", page.data)
                    self.reads(resource.name, page.n_left)
            except Expired:
                if resource_version or not limit:
                    raise
                continue
            self.intake.complete()
            return page.resource_version
        raise AssertionError("a whole list does not expire")

    def _pages(self, resource: Resource, resource_version: str, limit: int) -> Iterator[Page]:
        token = ""
        while True:
            page = self._page(resource, token, resource_version, limit)
            yield page
            token = page.continue_token
            if not token:
                return

    def _page(self, resource: Resource, token: str, resource_version: str, limit: int) -> Page:
        """One page, asked for again while that makes sense."""
        while True:
            try:
                page = self.connection.page(
                    resource,
                    continue_token=token,
                    resource_version=resource_version,
                    limit=limit,
                )
            except ClusterProblem as problem:
                if resource_version and isinstance(problem, Refusal) and problem.status == 504:
                    raise  # this state is not here and will not come
                self.patience.wait(problem)
            else:
                self.patience.answered()
                return page

    def _imported(self) -> Imported:
        found = self.intake.result()
        target = self.connection.target
        warnings = (
            say(
                "import.read_from",
                "Read from context {name} at resource version {version}",
                name=target.name,
                version=self.resource_version,
            ),
            *PROTECTION_WARNINGS.get(target.protection, ()),
            *(
                say("import.read_later", "{name} read at a later moment than the rest", name=name)
                for name in self.later
            ),
            *found.warnings,
        )
        refused = [
            ParseError(
                Place(name),
                "",
                say(
                    "import.may_not_list",
                    "{name} does not let kviz list them; {hint}",
                    name=target.name,
                    hint=ROLE_HINT,
                ),
            )
            for name in self.refused
        ]
        return Imported(
            target=target,
            resource_version=self.resource_version,
            ingested=replace(
                found,
                server_version=server_version(self.connection),
                warnings=warnings,
                errors=(*refused, *found.errors),
                left_out=(*map(why_left_out, refused), *found.left_out),
            ),
            refused=tuple(self.refused),
            later=tuple(self.later),
        )


PROTECTION_WARNINGS: Final[dict[Protection, tuple[str, ...]]] = {
    "unverified": (
        say(
            "import.certificate_unchecked",
            "The certificate of the API server was not checked (insecure-skip-tls-verify): anyone "
            "on the network path could have answered",
        ),
    ),
    "unencrypted": (
        say(
            "import.plain_http",
            "The API server was asked over plain HTTP: anyone on the network path could read the "
            "traffic and answer",
        ),
    ),
}
