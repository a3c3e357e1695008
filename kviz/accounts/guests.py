"""How often an address may become another guest: each has its own workspace and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from django.http import HttpRequest
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from kviz.common.limits import TooManyAtOnce

if TYPE_CHECKING:
    from rest_framework.views import APIView

NO_VIEW: Final = cast("APIView", None)


class GuestRate(SimpleRateThrottle):
    """Counts per address."""

    scope = "guest"

    def get_cache_key(self, request: Request, view: APIView) -> str:
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}


def guest_begins(request: HttpRequest) -> None:
    """Count another guest of this address. Raises TooManyAtOnce."""
    if not GuestRate().allow_request(Request(request), NO_VIEW):
        raise TooManyAtOnce(
            _("Too many guests have come from your address. Sign in, or try again later.")
        )
