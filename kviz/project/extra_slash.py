"""Addresses with a slash too many."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.urls import is_valid_path
from django.utils.http import escape_leading_slashes


class NoExtraSlash:
    """An address that is a page but for the slashes at its end leads to the page.

    The other way round, a slash that is missing, is Django's APPEND_SLASH.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method in ("GET", "HEAD") and _has_extra_slash(request.path_info):
            path, question, query = request.get_full_path().partition("?")
            to = escape_leading_slashes(path.rstrip("/")) + question + query
            return HttpResponsePermanentRedirect(to)
        return self.get_response(request)


def _has_extra_slash(path: str) -> bool:
    if not path.endswith("/") or is_valid_path(path):
        return False
    return bool(is_valid_path(path.rstrip("/")))
