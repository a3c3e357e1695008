from allauth.account import views as passwords
from allauth.socialaccount.providers.openid_connect import views as openid
from django.contrib.auth.decorators import login_required
from django.urls import path
from django.views.decorators.http import require_POST

from kviz.accounts import audit_pages, pages, server_pages, token_pages, workspace_pages
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
    path("workspaces/", workspace_pages.workspace_list, name="workspace-list"),
    path(
        "workspaces/<uuid:workspace_id>", workspace_pages.workspace_detail, name="workspace-detail"
    ),
    path("workspaces/<uuid:workspace_id>/use", workspace_pages.workspace_use, name="workspace-use"),
    path(
        "workspaces/<uuid:workspace_id>/delete",
        workspace_pages.workspace_delete,
        name="workspace-delete",
    ),
    path("workspaces/<uuid:workspace_id>/members", workspace_pages.member_add, name="member-add"),
    path(
        "workspaces/<uuid:workspace_id>/members/<int:membership_id>/role",
        workspace_pages.member_appoint,
        name="member-appoint",
    ),
    path(
        "workspaces/<uuid:workspace_id>/members/<int:membership_id>/remove",
        workspace_pages.member_remove,
        name="member-remove",
    ),
    path(
        "workspaces/<uuid:workspace_id>/invitations",
        workspace_pages.invitation_create,
        name="invitation-create",
    ),
    path(
        "workspaces/<uuid:workspace_id>/invitations/<int:invitation_id>/withdraw",
        workspace_pages.invitation_withdraw,
        name="invitation-withdraw",
    ),
    path("join/<str:token>", workspace_pages.invitation, name="invitation"),
    path("tokens/", token_pages.token_list, name="token-list"),
    path("tokens/<str:sha256>/revoke", token_pages.token_revoke, name="token-revoke"),
    path("workspaces/<uuid:workspace_id>/log", audit_pages.workspace_log, name="workspace-log"),
    path(
        "workspaces/<uuid:workspace_id>/log.csv",
        audit_pages.workspace_log_csv,
        name="workspace-log-csv",
    ),
    path("people", server_pages.people, name="server-people"),
    path("people/password", server_pages.person_password, name="person-password"),
    path("people/<int:person_id>/close", server_pages.person_close, name="person-close"),
    path("people/<int:person_id>/open", server_pages.person_open, name="person-open"),
    path("usage", server_pages.workspaces, name="server-workspaces"),
    path("all-tokens", server_pages.tokens, name="server-tokens"),
    path("all-tokens/<str:sha256>/revoke", server_pages.token_revoke, name="server-token-revoke"),
    path("log", audit_pages.server_log, name="server-log"),
    path("log.csv", audit_pages.server_log_csv, name="server-log-csv"),
]
