"""Every address that changes something is in the audit log, or it is said here why not."""

from __future__ import annotations

import io
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client, RequestFactory

from kviz.accounts.access import Access
from kviz.accounts.audit import acting
from kviz.accounts.models import AuditEntry, Role, Workspace
from kviz.runs.models import Run, ShareLink
from kviz.runs.portable import saved
from kviz.snapshots.services import snapshot_import
from scheduler_core.api.ingest import ingest
from tests.web.cast import API, NODES
from tests.web.test_roles import UNSAFE, _server, addresses, ids, olga

__all__ = ["_server", "ids", "olga"]

UPLOADS = {
    "snapshot-new", "run-open", "cluster-list", "api-snapshot-list", "api-run-open",
    "api-cluster-import",
}  # fmt: skip
DELETES = {
    "snapshot-delete", "snapshots-delete", "run-delete", "runs-delete", "experiment-delete",
    "experiments-delete", "extender-delete", "api-snapshot-detail", "api-run-detail",
    "api-experiment-detail", "api-session-detail",
    "api-followed-detail",
}  # fmt: skip
SHARES = {
    "run-share", "run-unshare", "link-revoke", "links-revoke", "api-run-share", "api-link-list",
    "api-link-detail", "class-open-run", "class-open-lesson", "class-open-game", "class-take",
    "class-end", "class-end-idle",
}  # fmt: skip
"""A class is a link to its run, too."""
OF_A_CLASS = {"class-take", "class-end", "class-end-idle"}
"""Of these, end one, which is noted; to lead one that is open shares nothing."""
OF_ACCOUNTS = {
    "account_login", "account_logout", "account_change_password", "socialaccount_login_cancelled",
    "openid_connect_login", "openid_connect_callback", "workspace-list", "workspace-detail",
    "workspace-delete", "member-add", "member-appoint", "member-remove", "invitation-create",
    "invitation-withdraw", "invitation", "token-list", "token-revoke", "server-people",
    "person-password", "person-close", "person-open", "server-token-revoke",
}  # fmt: skip
"""Noted by their pages or by a signal of Django: `tests/web/test_audit.py` has them."""

NOT_NOTED = {
    "changes only what this browser shows": {"set-language", "classic-switch", "workspace-use"},
    "computes from what is there, and says who made it where it is listed": {
        "run-new", "run-luck", "run-rules", "run-differently", "run-optimum-ask",
        "run-optimum-cancel", "run-pause", "run-resume", "run-cancel", "run-rename",
        "experiment-new", "experiment-capacity", "experiment-unblock", "experiment-nodes",
        "experiment-rehearse", "experiment-both", "experiment-cancel", "experiment-run",
        "followed-check", "followed-open", "followed-resume", "followed-stop", "reading-open",
        "api-run-list", "api-run-cancel", "api-run-pause", "api-run-resume",
        "api-cycle-snapshot", "api-run-optimum", "api-run-luck", "api-run-rules",
        "api-snapshot-rules", "api-experiment-list", "api-experiment-cancel",
        "api-followed-check", "api-followed-stop",
    },
    "answers and stores nothing": {"api-snapshot-check", "api-run-check", "api-cycle-preview"},
    "is what somebody learns, not what the workspace has": {
        "lesson-begin", "lesson-answer", "lesson-reveal", "lesson-next", "lesson-try",
        "homework-begin", "homework-hand-in",
        "by-hand-snapshot", "by-hand-run", "api-lesson-begin", "api-lesson-answer",
        "api-lesson-reveal", "api-lesson-next", "api-lesson-try", "api-by-hand",
    },
    "happens in a class, whose participants have no account": {
        "class-find", "class-join", "api-class-answer", "api-class-board", "api-class-control",
        "api-class-propose",
    },
    "is listed on its page with its time for as long as it exists": {
        "extender-list", "extender-revoke", "followed-list", "api-session-list",
        "api-session-revoke", "api-followed-list",
    },
    "gives a lesson, which all may read, or takes back what was given": {
        "homework-give", "homework-delete",
    },
    "is called by a scheduler": {"api-extender"},
}  # fmt: skip


def unsafe_addresses(given: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Name, method and path of what does not refuse a method that may change something."""
    browser = Client(raise_request_exception=False)
    return [
        (name, method, path)
        for name, path, _ in addresses(given)
        for method in UNSAFE
        if getattr(browser, method)(path).status_code != 405
    ]


def kind_of(path: str) -> str:
    return "application/json" if path.startswith(API) else "application/x-www-form-urlencoded"


def test_every_unsafe_address_is_decided_about() -> None:
    there = {name for name, _, _ in unsafe_addresses({})}
    decided = [UPLOADS, DELETES, SHARES, OF_ACCOUNTS, *NOT_NOTED.values()]
    assert there == set().union(*decided)
    assert sum(map(len, decided)) == len(there), "decided about twice"


@pytest.mark.slow("asks every address")
def test_deleting_sharing_and_revoking_are_noted_at_every_address(
    olga: tuple[User, Client, Workspace], ids: dict[str, Any]
) -> None:
    _, browser, workspace = olga
    silent = []
    for name, path, _ in addresses(ids):
        for method in UNSAFE if name in DELETES | SHARES - OF_A_CLASS else ():
            with transaction.atomic():
                if method == "post" and name.endswith("run-share"):  # or the one there is is shown
                    ShareLink.objects.all().delete()
                ticked = {each: ids[f"{each}_id"] for each in ("run", "snapshot", "experiment")}
                sent = "{}" if path.startswith(API) else urlencode(ticked)
                answer = browser.generic(method.upper(), path, sent, kind_of(path))
                done = answer.status_code < 400
                noted = AuditEntry.objects.filter(who="olga", workspace_id=workspace.pk).exists()
                transaction.set_rollback(True)
            if done and not noted:
                silent.append((method, path))
            assert done or answer.status_code in (404, 405), (method, path, answer.status_code)
    assert silent == []


def test_uploads_are_noted_and_what_a_worker_does_is_not(
    olga: tuple[User, Client, Workspace], ids: dict[str, Any]
) -> None:
    person, browser, workspace = olga
    file = io.BytesIO(b"".join(saved.pieces(Run.objects.get(pk=ids["run_id"]))))
    file.name = "run.kviz"
    AuditEntry.objects.all().delete()
    browser.post("/snapshots/new", {"text": NODES})
    browser.post(f"{API}/snapshots/", NODES, content_type="application/yaml")
    browser.post("/runs/open", {"file": file})
    file.seek(0)
    browser.post(f"{API}/runs/file/", {"files": file})
    assert [each.what for each in AuditEntry.objects.all()] == ["upload"] * 4

    found = ingest([("nodes.yaml", NODES.encode())])
    snapshot_import(workspace=workspace, ingested=found, name="by a command")
    request = RequestFactory().post("/clusters/")
    request.access = Access(workspace, person=person, role=Role.EDITOR)  # type: ignore[attr-defined]
    with acting(request):
        read = snapshot_import(workspace=workspace, ingested=found, name="read from a cluster")
    latest = AuditEntry.objects.order_by("pk").last()
    assert latest is not None
    assert (AuditEntry.objects.count(), latest.about) == (5, f"/snapshots/{read.pk}")
