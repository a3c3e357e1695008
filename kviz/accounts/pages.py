"""Pages of a signed-in person; local mode has none of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import cast

from allauth.account.views import PasswordChangeView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from kviz.accounts.audit import What, note
from kviz.common.mode import Mode

View = Callable[..., HttpResponseBase]


def server_only(view: View) -> View:
    """Show a page in server mode; in local mode there is no such page (Http404)."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if settings.MODE != Mode.SERVER:
            raise Http404(request.path)
        return view(request, *args, **kwargs)

    return guarded


@server_only
def sign_in_cancelled(request: HttpRequest) -> HttpResponseBase:
    messages.info(request, _("You were not signed in."))
    return redirect("account_login")


class _PasswordChange(PasswordChangeView):  # type: ignore[misc]
    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not cast("User", request.user).has_usable_password():  # signed in by OpenID Connect
            raise Http404(request.path)
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response

    def get_success_url(self) -> str:
        note(What.PASSWORD, who=cast("User", self.request.user).username)
        messages.success(
            self.request, _("Your password was changed. Other browsers are signed out.")
        )
        return reverse("home")


password_change = _PasswordChange.as_view()
