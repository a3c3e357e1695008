"""Signing in: by password, by OpenID Connect, and what becomes of what a guest did before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from kviz import environment
from kviz.accounts.models import Membership, Role, Workspace
from kviz.accounts.selectors import memberships_of
from kviz.accounts.services import person_add, person_close, person_set_password
from kviz.snapshots.models import Snapshot
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, Provider, openid_provider
from tests.web.cast import API, NODES, problem

PASSWORD = "a long enough password"
SIGN_IN = "/account/sign-in"


@pytest.fixture(autouse=True)
def _server(settings: Settings, db: None) -> None:
    settings.MODE = "server"


@pytest.fixture
def cleo() -> User:
    return person_add(name="cleo", password=PASSWORD)


def sign_in(browser: Client, name: str = "cleo", password: str = PASSWORD, **more: str) -> Any:
    return browser.post(SIGN_IN, {"login": name, "password": password, **more})


def signed_in_as(browser: Client) -> str:
    page = browser.get("/glossary/")
    person = page.context["person"]
    return str(person.username) if person else ""


def upload(browser: Client) -> str:
    answer = browser.post(f"{API}/snapshots/", NODES, content_type="application/yaml")
    assert answer.status_code == 201
    return str(answer.json()["id"])


# ---------------------------------------------------------------- by password


def test_a_name_and_its_password_let_in(cleo: User) -> None:
    browser = Client()
    upload(browser)
    before = browser.cookies["kviz_session"].value

    answer = sign_in(browser)

    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert signed_in_as(browser) == "cleo"
    assert browser.cookies["kviz_session"].value != before
    assert "cleo" in browser.get("/").content.decode()


@pytest.mark.parametrize(
    ("name", "password"), [("cleo", PASSWORD + "x"), ("nobody", PASSWORD), ("cleo", "")]
)
def test_anything_else_does_not(cleo: User, name: str, password: str) -> None:
    browser = Client()
    answer = sign_in(browser, name, password)
    assert answer.status_code == 200
    assert signed_in_as(browser) == ""


def test_who_guesses_waits(cleo: User) -> None:
    guesses = [sign_in(Client(), password=f"guess {n}").content.decode() for n in range(6)]
    assert "Too many failed login attempts" not in guesses[4]
    assert "Too many failed login attempts" in guesses[5]
    assert "Too many failed login attempts" in sign_in(Client()).content.decode()


@pytest.mark.parametrize(
    "there", ["https://evil.example/", "//evil.example/", "javascript:alert()"]
)
def test_after_signing_in_one_stays_here(cleo: User, there: str) -> None:
    assert sign_in(Client(), next=there)["Location"] == "/"
    assert sign_in(Client(), next="/runs/?x=1")["Location"] == "/runs/?x=1"


def test_signing_in_and_out_is_checked_for_forgery(cleo: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert sign_in(strict).status_code == 403
    strict.force_login(cleo)
    assert strict.post("/account/sign-out").status_code == 403
    assert strict.get("/account/sign-out").status_code == 405
    assert signed_in_as(strict) == "cleo"


def test_nobody_makes_an_account_for_themselves() -> None:
    browser = Client()
    for path in ("signup/", "signup", "sign-up", "password/reset/", "3rdparty/signup/"):
        assert browser.post(f"/account/{path}", {"username": "x"}).status_code == 404
    assert User.objects.count() == 0


def test_a_closed_account_is_shut_at_once(cleo: User) -> None:
    browser = Client()
    sign_in(browser)
    mine = upload(browser)
    person_close(person=cleo, is_closed=True)

    assert signed_in_as(browser) == ""
    problem(browser.get(f"{API}/snapshots/{mine}/"), 404)
    assert signed_in_as(sign_in(Client()).client) == ""


def test_another_password_ends_all_other_sessions(cleo: User) -> None:
    mine, other = Client(), Client()
    sign_in(mine)
    sign_in(other)
    new = "another long password"

    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert mine.post("/account/password", form)["Location"] == "/"

    assert (signed_in_as(mine), signed_in_as(other)) == ("cleo", "")
    person_set_password(person=User.objects.get(), password=PASSWORD)
    assert signed_in_as(mine) == ""


def test_the_password_is_changed_by_who_is_signed_in(cleo: User) -> None:
    answer = Client().get("/account/password")
    assert answer["Location"].startswith(SIGN_IN)


@pytest.mark.parametrize(
    "path", ["sign-in", "sign-out", "closed", "password", "openid", "cancelled"]
)
def test_local_mode_has_no_accounts(settings: Settings, path: str) -> None:
    settings.MODE = "local"
    assert Client().get(f"/account/{path}").status_code == 404
    assert b"account/sign-in" not in Client().get("/").content


# ---------------------------------------------------------------- what a guest did


def test_what_a_guest_did_comes_along(cleo: User) -> None:
    browser = Client()
    mine = upload(browser)

    sign_in(browser)

    assert browser.get(f"{API}/snapshots/{mine}/").status_code == 200
    workspace = Snapshot.objects.get(pk=mine).workspace
    assert workspace is not None
    assert workspace.kind == Workspace.Kind.MEMBERS
    assert Membership.objects.get(workspace=workspace).role == Role.OWNER
    browser.post("/account/sign-out")
    problem(browser.get(f"{API}/snapshots/{mine}/"), 404)
    assert sign_in(browser).status_code == 302
    assert browser.get(f"{API}/snapshots/{mine}/").status_code == 200


def test_an_empty_guest_leaves_nothing_behind(cleo: User) -> None:
    browser = Client()
    browser.get("/runs/")
    sign_in(browser)
    upload(browser)
    browser.post("/account/sign-out")
    browser.get("/runs/")
    sign_in(browser)
    browser.get("/runs/")
    assert [each.name for each in Workspace.objects.all()] == ["cleo"]


def test_what_a_guest_did_later_is_a_workspace_of_its_own(cleo: User) -> None:
    first, second = Client(), Client()
    sign_in(first)
    upload(first)
    upload(second)

    sign_in(second)

    assert memberships_of(person=cleo).count() == 2
    assert len(second.get("/snapshots/").context["page"]) == 1


def test_a_session_that_names_a_workspace_of_others_does_not_open_it(cleo: User) -> None:
    browser, thief = Client(), Client()
    sign_in(browser)
    mine = upload(browser)
    session = thief.session
    session["workspace"] = str(Membership.objects.get().workspace_id)
    session.save()
    thief.cookies["kviz_session"] = str(session.session_key)

    problem(thief.get(f"{API}/snapshots/{mine}/"), 404)
    person_add(name="dan", password=PASSWORD)
    sign_in(thief, "dan")
    problem(thief.get(f"{API}/snapshots/{mine}/"), 404)


# ---------------------------------------------------------------- by OpenID Connect


@pytest.fixture
def provider(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with openid_provider() as running:
        monkeypatch.setenv("KVIZ_OIDC_CLIENT_ID", CLIENT_ID)
        monkeypatch.setenv("KVIZ_OIDC_CLIENT_SECRET", CLIENT_SECRET)
        settings.OIDC_ISSUER = running.issuer
        settings.OIDC_NAME = "Team login"
        settings.SOCIALACCOUNT_PROVIDERS = environment.openid(running.issuer, "Team login")
        yield running


def sent_away(browser: Client, **query: str) -> str:
    answer = browser.get("/account/openid", query)
    assert answer.status_code == 302
    return str(answer["Location"])


def state_of(address: str) -> str:
    return parse_qs(urlsplit(address).query)["state"][0]


def back(browser: Client, **query: str) -> Any:
    return browser.get("/account/openid/callback", query)


def sign_in_at(provider: Provider, browser: Client, **claims: Any) -> Any:
    there = sent_away(browser)
    code = provider.grant(there, **{"sub": "1", "preferred_username": "dora", **claims})
    return back(browser, code=code, state=state_of(there))


def test_whom_the_provider_knows_has_an_account(provider: Provider) -> None:
    browser = Client()
    mine = upload(browser)
    assert "Sign in with Team login" in browser.get(SIGN_IN).content.decode()

    assert sign_in_at(provider, browser)["Location"] == "/"

    assert signed_in_as(browser) == "dora"
    assert browser.get(f"{API}/snapshots/{mine}/").status_code == 200
    again = Client()
    sign_in_at(provider, again, preferred_username="theodora")
    assert signed_in_as(again) == "dora"
    assert not User.objects.get().has_usable_password()
    assert again.get("/account/password").status_code == 404


def test_it_is_asked_for_the_scopes_and_leads_back(provider: Provider) -> None:
    browser = Client()
    there = sent_away(browser, next="/runs/")
    asked = parse_qs(urlsplit(there).query)
    assert set(asked["scope"][0].split()) == {"openid", "profile", "email"}
    assert asked["redirect_uri"] == ["http://testserver/account/openid/callback"]
    code = provider.grant(there, sub="1")
    assert back(browser, code=code, state=state_of(there))["Location"] == "/runs/"


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": int(time.time()) - 3600},
        {"aud": "another client"},
        {"iss": "https://another.example"},
    ],
    ids=lambda claims: next(iter(claims)),
)
def test_a_token_that_is_not_for_us_and_now_lets_nobody_in(
    provider: Provider, claims: dict[str, Any]
) -> None:
    browser = Client()
    assert sign_in_at(provider, browser, **claims).status_code == 401
    assert signed_in_as(browser) == ""
    assert User.objects.count() == 0


def test_a_state_is_of_one_browser_and_used_once(provider: Provider) -> None:
    browser, other = Client(), Client()
    there, elsewhere = sent_away(browser), sent_away(other)
    code = provider.grant(there, sub="1")

    assert back(other, code=code, state=state_of(there)).status_code == 401
    assert back(other, code=code, state="made-up").status_code == 401
    assert back(other, code=code).status_code == 401
    # A stolen code with a state of the thief's own: the provider wants the verifier with it.
    assert back(other, code=code, state=state_of(elsewhere)).status_code == 401
    assert signed_in_as(other) == ""
    assert User.objects.count() == 0


def test_who_changes_their_mind_is_not_signed_in(provider: Provider) -> None:
    browser = Client()
    state = state_of(sent_away(browser))
    answer = back(browser, error="access_denied", state=state)
    assert answer["Location"] == "/account/cancelled"
    assert (
        "You were not signed in." in browser.get("/account/cancelled", follow=True).content.decode()
    )


def test_a_name_that_is_taken_is_not_taken_over(provider: Provider, cleo: User) -> None:
    browser = Client()
    User.objects.update(email="cleo@team.example")
    claims = {"email": "cleo@team.example", "email_verified": True}
    sign_in_at(provider, browser, preferred_username="cleo", **claims)
    assert signed_in_as(browser) not in ("", "cleo")


def test_groups_say_who_may_come_and_who_administers(
    provider: Provider, settings: Settings
) -> None:
    settings.OIDC_GROUPS, settings.OIDC_ADMIN_GROUPS = ["kviz"], ["platform"]

    def come(*groups: str) -> tuple[int, list[bool]]:
        status = sign_in_at(provider, Client(), groups=groups).status_code
        return status, list(User.objects.values_list("is_staff", flat=True))

    assert come("others") == (403, [])
    assert sign_in_at(provider, Client(), groups="kviz").status_code == 403
    assert come("kviz") == (302, [False])
    assert come("platform") == (302, [True])
    assert come("kviz") == (302, [False])
    assert come("others") == (403, [False])
