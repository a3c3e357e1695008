"""What kviz wants of django-allauth: who may sign in, and what becomes of a guest who does."""

from __future__ import annotations

from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from kviz.accounts import services
from kviz.accounts.audit import What, known_name, note


class Accounts(DefaultAccountAdapter):  # type: ignore[misc]
    """Passwords: an administrator makes the accounts, and no mail is sent."""

    error_messages: ClassVar = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": gettext_lazy("The name or the password is wrong."),
        "enter_current_password": gettext_lazy("This is not the present password."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def add_message(self, *_args: object, **_options: object) -> None:
        """Say nothing: the next page shows the signed-in person."""


class Identities(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """OpenID Connect: everyone the issuer knows has an account, unless groups are required."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse a person in none of the groups; members of administrators' groups are staff."""
        groups = groups_claimed(sociallogin.account.extra_data)
        if settings.OIDC_GROUPS and not groups & {
            *settings.OIDC_GROUPS,
            *settings.OIDC_ADMIN_GROUPS,
        }:
            raise ImmediateHttpResponse(render(request, "account/refused.html", status=403))
        if settings.OIDC_ADMIN_GROUPS:
            is_admin = not groups.isdisjoint(settings.OIDC_ADMIN_GROUPS)
            services.person_appoint(person=sociallogin.user, is_admin=is_admin)


def groups_claimed(claims: dict[str, Any]) -> set[str]:
    """The groups that an ID token names; a claim of another shape names none."""
    found = claims.get("id_token", {}).get(settings.OIDC_GROUPS_CLAIM, [])
    return {each for each in found if isinstance(each, str)} if isinstance(found, list) else set()


@receiver(user_logged_in)
def take_guest_along(request: HttpRequest, user: User, **_more: object) -> None:
    if not services.guest_take_along(session=request.session, person=user):
        text = _("Your guest work was not moved: you own the maximum number of workspaces.")
        messages.warning(request, text, fail_silently=True)
    note(What.SIGN_IN, who=user.username)


@receiver(user_logged_out)
def note_sign_out(user: User | None, **_more: object) -> None:
    if user is not None:
        note(What.SIGN_OUT, who=user.username)


@receiver(user_login_failed)
def note_failure(credentials: dict[str, object], **_more: object) -> None:
    note(What.SIGN_IN_FAILED, who=known_name(credentials.get("username")))
