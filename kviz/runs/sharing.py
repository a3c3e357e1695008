"""Writes: the links that open a run to others, for reading. They expire and can be revoked."""

from __future__ import annotations

import datetime as dt
import secrets
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext

from kviz.accounts.audit import What, note_done
from kviz.accounts.models import Workspace
from kviz.common.limits import TooManyAtOnce
from kviz.runs.models import Run, ShareLink, ShareLinks

OPENED_AGAIN_AFTER: Final = dt.timedelta(hours=1)
KEPT_FOR: Final = dt.timedelta(days=90)
"""How long links that open nothing any more are listed."""
DAYS: Final = (7, 30, 90, 365)
"""After how many days a page lets links expire."""


def run_share(
    *, run: Run, made_by: User | None = None, expires_at: dt.datetime | None = None
) -> ShareLink:
    """Return a link that opens a run; asked again for one that never expires, the same.

    Raises TooManyAtOnce if as many links open runs of the workspace as may.
    """
    if expires_at is None and (known := run.links.open().filter(expires_at=None).first()):
        return known
    _make_room(run.workspace_id)
    token = secrets.token_urlsafe(24)
    with transaction.atomic():
        note_done(What.SHARE, run.get_absolute_url())
        return ShareLink.objects.create(
            token=token, run=run, made_by=made_by, expires_at=expires_at
        )


def _make_room(workspace: UUID) -> None:
    """Raise TooManyAtOnce if as many links open a workspace's runs as may.

    Of those that open nothing any more as many are listed; the oldest are forgotten.
    """
    most = settings.MAX_SHARE_LINKS
    if most is None:
        return
    links = ShareLink.objects.filter(run__workspace=workspace)
    if links.open().count() >= most:
        text = ngettext(
            "%(n)d link opens runs of this workspace, and no more may. Revoke it first.",
            "%(n)d links open runs of this workspace, which is the limit. Revoke one first.",
            most,
        )
        raise TooManyAtOnce(text % {"n": most})
    over = links.exclude(pk__in=links.open().values("pk")).order_by("-pk")
    ShareLink.objects.filter(pk__in=list(over.values_list("pk", flat=True)[most - 1 :])).delete()


def run_unshare(*, run: Run) -> int:
    """Revoke all links to a run; return how many were open."""
    return _revoke(ShareLink.objects.filter(run=run), run.get_absolute_url())


def links_revoke(*, workspace: Workspace) -> int:
    """Revoke all links to a workspace's runs; return how many were open."""
    return _revoke(ShareLink.objects.filter(run__workspace=workspace), reverse("link-list"))


def link_revoke(*, link: ShareLink) -> bool:
    """Let a link open nothing any more; False if it did not."""
    return _revoke(ShareLink.objects.filter(pk=link.pk), link.run.get_absolute_url()) == 1


@transaction.atomic
def _revoke(links: ShareLinks, about: str) -> int:
    n = links.open().update(revoked_at=timezone.now())
    if n:
        note_done(What.UNSHARE, about)
    return n


def link_opened(*, token: str) -> None:
    """Note that somebody else opened a link, to the hour; most requests write nothing."""
    now = timezone.now()
    due = ShareLink.objects.filter(token=token).exclude(opened_at__gt=now - OPENED_AGAIN_AFTER)
    if due.exists():
        due.update(opened_at=now)


def links_prune() -> int:
    """Delete links that have long opened nothing; return how many they were."""
    long_ago = timezone.now() - KEPT_FOR
    ended = Q(revoked_at__lt=long_ago) | Q(expires_at__lt=long_ago)
    return ShareLink.objects.filter(ended).delete()[0]
