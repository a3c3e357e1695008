from allauth.account import views as passwords
from allauth.socialaccount.providers.openid_connect import views as openid
from django.contrib.auth.decorators import login_required
from django.urls import path
from django.views.decorators.http import require_POST

from kviz.accounts import pages
from kviz.accounts.pages import server_only

OPENID = {"provider_id": "openid"}

urlpatterns = [
    path("sign-in", server_only(passwords.login), name="account_login"),
    path("sign-out", server_only(require_POST(passwords.logout)), name="account_logout"),
    path("closed", server_only(passwords.account_inactive), name="account_inactive"),
    path("cancelled", pages.sign_in_cancelled, name="socialaccount_login_cancelled"),
    path(
        "password",
        server_only(login_required(pages.password_change)),
        name="account_change_password",
    ),
    path("openid", server_only(openid.login), OPENID, name="openid_connect_login"),
    path("openid/callback", server_only(openid.callback), OPENID, name="openid_connect_callback"),
]
