"""The caller, and what they may do: decided once per request, for pages and REST alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from kviz.accounts.models import Role, Workspace

ONLY_READS: Final = _("You are a viewer of this workspace: you read it, and change nothing.")
TOKEN_ONLY_READS: Final = _("This token only reads.")


@dataclass(frozen=True)
class Access:
    """The workspace a request works in, and the role in which it does."""

    workspace: Workspace
    role: Role = Role.OWNER
    person: User | None = None
    """The signed-in person; None for guests and in local mode."""

    refusal: str | Promise = ONLY_READS
    """The text for a viewer."""

    @property
    def may_change(self) -> bool:
        return self.role != Role.VIEWER
