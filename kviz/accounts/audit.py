"""Who did what when: entries are added, read, and deleted when they are old; nothing changes one.

Changes of clusters, runs and what they are shared with are noted where requests end, by the name of
the address; who signs in and who the members are is noted where it happens.
"""

from __future__ import annotations

import datetime as dt
from http import HTTPStatus
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from kviz.accounts.access import Access
from kviz.accounts.models import AuditEntry

What = AuditEntry.What
MAX_ABOUT_CHARS: Final = 200

NOTED: Final[dict[tuple[str, str], What]] = {
    ("POST", "snapshot-new"): What.UPLOAD,
    ("POST", "run-open"): What.UPLOAD,
    ("POST", "cluster-list"): What.UPLOAD,
    ("POST", "api-snapshot-list"): What.UPLOAD,
    ("POST", "api-run-open"): What.UPLOAD,
    ("POST", "api-cluster-import"): What.UPLOAD,
    ("POST", "snapshot-delete"): What.DELETE,
    ("POST", "run-delete"): What.DELETE,
    ("POST", "experiment-delete"): What.DELETE,
    ("POST", "extender-delete"): What.DELETE,
    ("DELETE", "api-snapshot-detail"): What.DELETE,
    ("DELETE", "api-run-detail"): What.DELETE,
    ("DELETE", "api-experiment-detail"): What.DELETE,
    ("DELETE", "api-session-detail"): What.DELETE,
    ("DELETE", "api-followed-detail"): What.DELETE,
    ("POST", "run-share"): What.SHARE,
    ("POST", "api-run-share"): What.SHARE,
    ("POST", "run-unshare"): What.UNSHARE,
    ("DELETE", "api-run-share"): What.UNSHARE,
    ("POST", "link-revoke"): What.UNSHARE,
    ("POST", "links-revoke"): What.UNSHARE,
    ("DELETE", "api-link-list"): What.UNSHARE,
    ("DELETE", "api-link-detail"): What.UNSHARE,
}
"""What requests do that are noted when they succeeded."""
PAGE_SUCCEEDED: Final = HTTPStatus.FOUND
"""A form that was not accepted is shown again, with another status."""


def note(what: What, *, who: str, workspace: UUID | None = None, about: str = "") -> AuditEntry:
    """Write down what somebody did, in a workspace or on the server."""
    return AuditEntry.objects.create(
        what=what, who=who, workspace_id=workspace, about=about[:MAX_ABOUT_CHARS]
    )


def noted(request: HttpRequest, response: HttpResponseBase) -> What | None:
    """What a request did that is to be noted; None for most, and where it did not succeed."""
    match = request.resolver_match
    what = NOTED.get((request.method or "", (match.url_name or "") if match else ""))
    if request.path_info.startswith("/api/"):
        return what if response.status_code < HTTPStatus.BAD_REQUEST else None
    return what if response.status_code == PAGE_SUCCEEDED else None


def note_request(what: What, request: HttpRequest, response: HttpResponseBase) -> None:
    """Write down what a request did, if a person made it, from a browser or with a token."""
    access: Access = getattr(request, "auth", None) or request.access  # type: ignore[attr-defined]
    if access.person is not None:
        about = response.headers.get("Location", "") if what is What.UPLOAD else ""
        who, workspace = access.person.username, access.workspace.pk
        note(what, who=who, workspace=workspace, about=about or request.path)


def entries_of(*, workspace_id: UUID) -> QuerySet[AuditEntry]:
    """What was done in a workspace, the latest first."""
    return AuditEntry.objects.filter(workspace_id=workspace_id).order_by("-pk")


def entries_all() -> QuerySet[AuditEntry]:
    """What was done on this server, the latest first."""
    return AuditEntry.objects.order_by("-pk")


def audit_prune() -> int:
    """Delete what is older than the log is kept; return how many entries."""
    kept_since = timezone.now() - dt.timedelta(days=settings.AUDIT_DAYS)
    return AuditEntry.objects.filter(at__lt=kept_since).delete()[0]


def known_name(name: object) -> str:
    """A name that failed to sign in, if there is such an account: others may be passwords."""
    return name if isinstance(name, str) and User.objects.filter(username=name).exists() else ""
