"""Why a request could be a forged one: Django's reasons, which it says in English only."""

from __future__ import annotations

import re
from typing import Final

from django.utils.translation import gettext as _

_FOREIGN: Final = re.compile(r"(?:Origin|Referer) checking failed - (?P<origin>\S+) does not match")


def why_forged(reason: str) -> str:
    """Return one of the reasons of `django.middleware.csrf` in the active language."""
    if foreign := _FOREIGN.match(reason):
        return _("It comes from a page of %(origin)s.") % foreign.groupdict()
    if reason.startswith("Referer checking failed"):
        return _("It does not say which page it comes from.")
    if reason.startswith("CSRF cookie"):
        return _("The browser sent no valid cookie with it.")
    return _("It lacks the token of the page it comes from, or that page is too old.")
