"""Pages of the audit log: of a workspace for its owners, of the server for administrators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from kviz.accounts.audit import entries_all, entries_of
from kviz.accounts.models import AuditEntry, Role
from kviz.accounts.workspace_pages import owned_workspace, signed_in, signed_in_person
from kviz.common.csv_file import MEDIA_TYPE, csv_pieces
from kviz.common.streaming import attachment
from kviz.common.wording import translated
from scheduler_core.wording import Text, say

# What an entry of the audit log is about, in words that can be translated.
#
# The log holds the English, which its CSV has, too; here it is read back into what it was made of.

What = AuditEntry.What

_ROLES: Final = {
    Role.VIEWER.value: say("audit.viewer", "viewer"),
    Role.EDITOR.value: say("audit.editor", "editor"),
    Role.OWNER.value: say("audit.owner", "owner"),
    "-": say("audit.no_member", "no longer a member"),
}
"""What somebody became, as the log has it."""
_PERSON: Final = r"(?P<person>\S+)"
_NAME: Final = "(?P<name>.*)"
_ABOUT: Final = {
    What.ACCOUNT: (
        say("audit.administrator_made", "administrator {person}: made", person=_PERSON),
        say("audit.person_made", "{person}: made", person=_PERSON),
        say("audit.other_password", "{person}: another password", person=_PERSON),
        say("audit.person_closed", "{person}: closed", person=_PERSON),
        say("audit.person_open", "{person}: open", person=_PERSON),
    ),
    What.DELETE: (say("audit.workspace_name", "workspace {name}", name=_NAME),),
    What.MEMBER: (
        say("audit.role", "{person}: {role}", person=_PERSON, role="(?P<role>[a-z]+|-)"),
    ),
    What.REVOKE: (
        say(
            "audit.token_of",
            "token of {whose}: {name}",
            whose=r"(?P<whose>kviz token|\S+)",
            name=_NAME,
        ),
        say("audit.token_name", "token {name}", name=_NAME),
    ),
    What.UNSHARE: (say("audit.invitation_n", "invitation {n}", n=r"(?P<n>\d+)"),),
}
"""What may be said, with patterns in the places of names."""


def about(entry: AuditEntry) -> str:
    """Return what an entry is about, as a text where it is more than a name or an address."""
    if entry.what == What.INVITE:
        return _ROLES.get(entry.about, entry.about)
    for known in _ABOUT.get(What(entry.what), ()):
        if found := re.fullmatch(known, entry.about):
            values = found.groupdict()
            if "role" in values:
                values["role"] = _ROLES.get(values["role"], values["role"])
            return Text(known.id, known.template, values)
    return entry.about


SHOWN: Final = 200
ROWS_AT_ONCE: Final = 500
COLUMNS: Final = ("at", "who", "what", "workspace", "about")


@require_GET
@signed_in
def workspace_log(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    workspace = owned_workspace(request, workspace_id)
    csv = reverse("workspace-log-csv", args=[workspace_id])
    return _page(request, entries_of(workspace_id=workspace_id), csv, workspace.name)


@require_GET
@signed_in
def workspace_log_csv(request: HttpRequest, workspace_id: UUID) -> HttpResponseBase:
    owned_workspace(request, workspace_id)
    return _csv(entries_of(workspace_id=workspace_id))


@require_GET
@signed_in
def server_log(request: HttpRequest) -> HttpResponse:
    _refuse_others(request)
    return _page(request, entries_all(), reverse("server-log-csv"), "")


@require_GET
@signed_in
def server_log_csv(request: HttpRequest) -> HttpResponseBase:
    _refuse_others(request)
    return _csv(entries_all())


def _refuse_others(request: HttpRequest) -> None:
    if not signed_in_person(request).is_staff:
        raise PermissionDenied(_("Only administrators of this server read its log."))


def _page(request: HttpRequest, entries: QuerySet[AuditEntry], csv: str, name: str) -> HttpResponse:
    shown = [(entry, translated(about(entry))) for entry in entries[:SHOWN]]
    context = {"entries": shown, "csv": csv, "name": name, "shown": SHOWN}
    return render(request, "account/log.html", context)


def _csv(entries: QuerySet[AuditEntry]) -> HttpResponseBase:
    pieces = csv_pieces(COLUMNS, _batches(entries))
    return attachment(pieces, name="kviz-audit.csv", media_type=MEDIA_TYPE)


def _batches(entries: QuerySet[AuditEntry]) -> Iterator[list[tuple[str, ...]]]:
    """The log's rows, the latest first; no query stays open between two batches."""
    batch = list(entries[:ROWS_AT_ONCE])
    while batch:
        yield [_row(each) for each in batch]
        batch = list(entries.filter(pk__lt=batch[-1].pk)[:ROWS_AT_ONCE])


def _row(entry: AuditEntry) -> tuple[str, ...]:
    workspace = str(entry.workspace_id or "")
    return entry.at.isoformat(), entry.who, entry.what, workspace, entry.about
