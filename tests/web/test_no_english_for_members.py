"""A server with accounts in Chinese: pages of who is signed in, refusals and errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings

from kviz.accounts.models import AuditEntry, Invitation, Membership, Workspace
from kviz.accounts.services import local_workspace_ensure, person_add, token_create
from kviz.accounts.throttling import WorkspaceRate
from kviz.common.limits import TooManyAtOnce
from kviz.common.problems import Gone
from tests.web.cast import API, NODES, execute, problem
from tests.web.crawling import crawl
from tests.web.english import english_on
from tests.web.test_no_english_left import CHINESE, ENGLISH, UNKNOWN
from tests.web.test_saved_runs import body

PASSWORD = "a long enough password"
MAIN = re.compile(r"<main.*</main>", re.DOTALL)
TITLE = re.compile("<title>(.*)</title>")
NOTICE = re.compile(r'<div class="notice[^>]*>(.*?)</div>|<p class="field-error"[^>]*>(.*?)</p>')


@pytest.fixture(autouse=True)
def _server(settings: Settings, db: None) -> None:
    settings.MODE = "server"


def reader(person: User | None = None, **more: Any) -> Client:
    """A browser that asks for Chinese."""
    found = Client(headers={"accept-language": "zh-hans"}, **more)
    if person is not None:
        found.force_login(person)
    return found


@pytest.fixture
def ada() -> User:
    return person_add(name="ada", password=PASSWORD, is_admin=True)


def spoken(answer: Any) -> str:
    """A page in Chinese: nothing on it is English, and it calls its reader as all pages do."""
    text: str = answer.content.decode()
    assert english_on(text) == []
    assert "您" not in text
    assert CHINESE.search(MAIN.findall(text)[0])
    return text


def notices(answer: Any) -> list[str]:
    """What a page says of what was sent; there is something, all of it in Chinese."""
    found = NOTICE.findall(spoken(answer))
    said = [unescape(re.sub("<[^>]*>", "", one or two)) for one, two in found]
    assert said
    assert [text for text in said if not CHINESE.search(text)] == []
    return said


def team(ada: Client) -> Workspace:
    """Do all that administrators and owners do."""
    for name, admin in (("ben", ""), ("zoe", "yes")):
        ada.post("/account/people", {"name": name, "password": PASSWORD, "admin": admin})
    ada.post("/account/people/password", {"name": "ben", "password": f"{PASSWORD} too"})
    ben = User.objects.get(username="ben")
    ada.post(f"/account/people/{ben.pk}/close")
    ada.post(f"/account/people/{ben.pk}/open")
    ada.post("/account/workspaces/", {"name": "Platform"})
    workspace = Workspace.objects.get(name="Platform")
    at = f"/account/workspaces/{workspace.pk}"
    for name, role in (("ben", "viewer"), ("zoe", "editor")):
        ada.post(f"{at}/members", {"name": name, "role": role})
    found = Membership.objects.get(workspace=workspace, person=ben)
    ada.post(f"{at}/members/{found.pk}/role", {"role": "owner"})
    zoe = Membership.objects.get(workspace=workspace, person__username="zoe")
    ada.post(f"{at}/members/{zoe.pk}/remove")
    for role in ("viewer", "editor"):
        ada.post(f"{at}/invitations", {"role": role})
    ada.post(f"{at}/invitations/{Invitation.objects.earliest('pk').pk}/withdraw")
    tokens(ada)
    return workspace


def tokens(ada: Client) -> None:
    """Make tokens, and revoke two: one's own and the server's."""
    for name, scope in (("ci", "write"), ("watch", "read"), ("old", "read")):
        ada.post("/account/tokens/", {"name": name, "scope": scope, "days": "30"})
    own = User.objects.get(username="ada").tokens.get(name="old")
    ada.post(f"/account/tokens/{own.sha256}/revoke")
    token_create(workspace=local_workspace_ensure())
    of_server = local_workspace_ensure().tokens.get(person=None)
    ada.post(f"/account/all-tokens/{of_server.sha256}/revoke")


def run_and_link(ada: Client) -> None:
    ada.post("/snapshots/new", {"text": NODES})
    snapshot = ada.get("/snapshots/").context["page"][0]
    run = ada.post("/runs/new", {"snapshot": str(snapshot.pk)})["Location"]
    execute(worker="test")
    ada.post(f"{run}/share", {"days": "7"})


@pytest.mark.slow("reads every page")
def test_no_page_of_an_administrator_has_an_english_sentence(ada: User) -> None:
    browser = reader(ada)
    team(browser)
    run_and_link(browser)
    seen = crawl(browser, "/account/people", ENGLISH)
    assert {"/account/log", "/account/tokens/", "/account/password", "/runs/links"} <= seen.keys()
    found = {(line, address) for address, page in seen.items() for line in english_on(page.html)}
    assert sorted(found) == []


def test_what_entries_of_the_log_are_about(ada: User) -> None:
    browser = reader(ada)
    team(browser)
    log = browser.get("/account/log").content.decode()
    about = [unescape(each) for each in re.findall(r"<td>([^<]*)</td>\s*</tr>", log)]
    assert len(about) == AuditEntry.objects.count() > 15
    names = {"", "Platform", "ci", "watch", "old"}
    assert [each for each in about if each not in names and not CHINESE.search(each)] == []
    csv = body(browser.get("/account/log.csv")).decode()  # for scripts, in English always
    assert "ben: viewer" in csv
    assert not CHINESE.search(csv)


def sign_in(browser: Client, name: str, password: str) -> Any:
    return browser.post("/account/sign-in", {"login": name, "password": password})


def test_who_does_not_get_in(ada: User) -> None:
    browser = reader()
    for password in ("wrong", ""):
        notices(sign_in(browser, "ada", password))
    for n in range(6):
        answer = sign_in(browser, "ada", f"guess {n}")
    notices(answer)
    for n in range(12):
        answer = sign_in(browser, f"somebody {n}", "guess")
    notices(answer)
    for n in range(20):
        answer = sign_in(browser, f"somebody {n}", "guess")
    assert answer.status_code == 429
    spoken(answer)
    notices(browser.get("/account/cancelled", follow=True))
    spoken(browser.get("/account/sign-in"))
    spoken(browser.get("/account/closed"))


BAD_PASSWORDS = ("short", "password1234", "ada-ada-ada-ada", "", "x" * 5000)


def test_a_password_that_is_not_taken(ada: User) -> None:
    ada.username = "ada-ada-ada-ad"
    ada.save()
    browser = reader(ada)
    address = "/account/password"
    for password in BAD_PASSWORDS[:-1]:
        form = {"oldpassword": PASSWORD, "password1": password, "password2": password}
        notices(browser.post(address, form))
    form = {"oldpassword": "wrong", "password1": PASSWORD, "password2": "another"}
    assert len(notices(browser.post(address, form))) >= 2
    for password in BAD_PASSWORDS:
        asked = {"name": "nina", "password": password}
        notices(browser.post("/account/people", asked, follow=True))
    cache.clear()  # so many attempts in a minute are refused
    new = f"{PASSWORD} and more"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    notices(browser.post(address, form, follow=True))


def refused_by_pages(browser: Client, workspace: Workspace, me: User) -> dict[str, dict[str, str]]:
    """What is sent to pages of accounts and not accepted."""
    at = f"/account/workspaces/{workspace.pk}"
    own = Membership.objects.get(workspace=workspace, person=me)
    return {
        "/account/people": {"name": "ada", "password": PASSWORD},
        "/account/people/password": {"name": "nobody", "password": PASSWORD},
        f"/account/people/{me.pk}/close": {},
        "/account/workspaces/": {"name": " "},
        "/account/tokens/": {"name": " ", "scope": "read", "days": "30"},
        f"{at}/members": {"name": "nobody", "role": "viewer"},
        f"{at}/members/999/remove": {},
        f"{at}/members/{own.pk}/role": {"role": "viewer"},
    }


def test_forms_that_are_not_accepted(ada: User) -> None:
    browser = reader(ada)
    browser.post("/account/workspaces/", {"name": "Platform"})
    workspace = Workspace.objects.get(name="Platform")
    for address, form in refused_by_pages(browser, workspace, ada).items():
        notices(browser.post(address, form, follow=True))
    for bad in ("", "a b", "ü" * 200):
        form = {"name": bad, "password": PASSWORD}
        notices(browser.post("/account/people", form, follow=True))


def test_errors_as_pages(ada: User, settings: Settings) -> None:
    browser = reader(ada, raise_request_exception=False)
    browser.post("/account/workspaces/", {"name": "Platform"})
    at = f"/account/workspaces/{Workspace.objects.get(name='Platform').pk}"
    guest = person_add(name="ben", password=PASSWORD)
    browser.post(f"{at}/members", {"name": "ben", "role": "viewer"})
    ben = reader(guest, raise_request_exception=False)
    ben.post(f"{at}/use")
    forged = reader(guest, enforce_csrf_checks=True)
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    asked: dict[int, list[Callable[[], Any]]] = {
        403: [
            lambda: ben.get("/account/people"), lambda: ben.get("/account/log"),
            lambda: ben.get(f"{at}/log"), lambda: ben.post("/snapshots/new", {"text": NODES}),
            lambda: forged.post("/snapshots/new"), lambda: forged.post("/account/sign-in"),
        ],
        400: [lambda: browser.get("/a%00b"), lambda: browser.get("/", {"a": "\0"})],
        404: [lambda: browser.get("/nothing"), lambda: browser.get("/account/join/x")],
        413: [lambda: browser.post("/snapshots/new", {"text": "x" * 2000})],
    }  # fmt: skip
    for status, requests in asked.items():
        for request in requests:
            answer = request()
            assert answer.status_code == status
            assert CHINESE.search(TITLE.findall(spoken(answer))[0])


def test_a_server_that_cannot_answer(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = reader(ada, raise_request_exception=False)
    raised = {429: TooManyAtOnce(""), 503: OperationalError(), 410: Gone(""), 500: ValueError("x")}
    for status, error in raised.items():

        def fail(*_: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr("kviz.accounts.server_pages.selectors.used_in_all", fail)
        answer = browser.get("/account/usage")
        assert answer.status_code == status
        assert CHINESE.search(TITLE.findall(spoken(answer))[0])
        if status in (500, 503):
            assert CHINESE.search(re.findall('class="lede">(.*)</p>', answer.content.decode())[0])


def told(answer: Any, status: int) -> None:
    """A problem document whose words are Chinese."""
    document = problem(answer, status)
    assert CHINESE.search(document["detail"]), document
    said = [each["message"] for each in document.get("errors", ())]
    assert [text for text in said if not CHINESE.search(text)] == []


def test_errors_of_rest(ada: User, settings: Settings) -> None:
    browser = reader(ada, raise_request_exception=False)
    forged = reader(ada, enforce_csrf_checks=True)
    runs, json = f"{API}/runs/", dict[str, Any](content_type="application/json")
    for credentials in ("Basic x", "Bearer nobody"):
        told(browser.get(runs, headers={"authorization": credentials}), 401)
    told(forged.post(runs, {}, **json), 403)
    foreign = {"origin": "https://evil.example"}
    told(forged.post(runs, {}, headers=foreign, **json), 403)
    told(browser.get(f"{runs}{UNKNOWN}/"), 404)
    told(browser.get(f"{API}/nothing/"), 404)
    told(browser.put(runs, {}, **json), 405)
    told(browser.get(runs, headers={"accept": "image/png"}), 406)
    told(browser.post(runs, "x", content_type="image/png"), 415)
    told(browser.post(runs, "{", **json), 400)
    told(browser.post(runs, "[" * 100_000, **json), 400)
    told(browser.post(runs, {"seed": "x", "snapshot": "y", "release": 1}, **json), 400)
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    told(browser.post(runs, {"scenario": "x" * 2000}, **json), 413)
    settings.GUESTS = False
    told(reader().get(runs), 401)


def test_who_asks_too_often(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = reader(ada, raise_request_exception=False)
    monkeypatch.setitem(WorkspaceRate.THROTTLE_RATES, "upload", "1/hour")
    sent: dict[str, Any] = {"content_type": "application/yaml"}
    browser.post(f"{API}/snapshots/", NODES, **sent)
    told(browser.post(f"{API}/snapshots/", NODES, **sent), 429)
    assert english_on(browser.post("/snapshots/new", {"text": NODES}).content.decode()) == []
