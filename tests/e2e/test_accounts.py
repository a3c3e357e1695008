"""Accounts on a server as a team uses them: in, invite, switch, out; axe on every page."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.axe import serious_findings
from tests.running_server import Server, command, environment, start_server, stop_server

PASSWORD = "a long enough password"
SERVER = {"KVIZ_MODE": "server", "KVIZ_TLS": "no"}


@pytest.fixture(scope="module")
def team_server(new_data_dir: Callable[[], Path]) -> Iterator[Server]:
    """A server of its own, with the accounts of Ada, who administers it, and of Ben."""
    folder = new_data_dir()
    server = start_server(folder, "--workers", "0", **SERVER)
    for name, more in (("ada", ["--admin"]), ("ben", [])):
        subprocess.run(
            command("user", "add", name, "--password-stdin", *more),
            env=environment(folder, **SERVER),
            input=f"{PASSWORD}\n",
            text=True,
            check=True,
        )
    yield server
    stop_server(server)


def person(browser: Browser, server: Server, name: str) -> Page:
    """Somebody's own browser, signed in."""
    page = browser.new_context(base_url=server.base_url).new_page()
    page.goto("/runs/")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    return page


def test_a_team_shares_a_workspace(browser: Browser, team_server: Server) -> None:
    ada, ben = (person(browser, team_server, name) for name in ("ada", "ben"))
    ada.goto("/account/workspaces/")
    ada.get_by_label("Name").fill("Platform")
    ada.get_by_role("button", name="Make it").click()
    ada.get_by_label("Role").last.select_option("viewer")
    ada.get_by_role("button", name="Make a link").click()
    link = ada.get_by_role("status").locator("code").inner_text()

    ben.goto(link)
    ben.get_by_role("button", name="Accept").click()
    expect(ben.locator(".account > summary")).to_contain_text("ben · Platform")
    ben.locator(".account > summary").click()
    ben.get_by_role("button", name="ben", exact=True).click()
    expect(ben.locator(".account > summary")).not_to_contain_text("Platform")

    ada.goto("/account/log")
    expect(ada.get_by_role("table")).to_contain_text("ben: viewer")
    ada.locator(".account > summary").click()
    ada.get_by_role("button", name="Sign out").click()
    expect(ada.get_by_role("link", name="Sign in")).to_be_visible()
    for page in (ada, ben):
        page.context.close()


def test_axe_finds_nothing_serious_on_account_pages(browser: Browser, team_server: Server) -> None:
    ada = person(browser, team_server, "ada")
    ada.goto("/account/workspaces/")
    ada.get_by_role("table").get_by_role("link").first.click()
    workspace = ada.url
    ada.get_by_role("button", name="Make a link").click()
    invitation = ada.get_by_role("status").locator("code").inner_text()
    found = []
    for address in (
        workspace, f"{workspace}/log", "/account/workspaces/", "/account/tokens/",
        "/account/people", "/account/usage", "/account/all-tokens",
        "/account/log", "/account/password", "/account/closed", "/runs/links", invitation,
    ):  # fmt: skip
        ada.goto(address)
        ada.locator(".account > summary").click()
        found += [f"{address} {finding}" for finding in serious_findings(ada)]
    ada.context.clear_cookies()
    ada.goto("/account/sign-in")
    ada.get_by_label("Name").fill("ada")
    ada.get_by_label("Password").fill("wrong")
    ada.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(ada.get_by_role("alert")).to_be_visible()
    found += [f"sign-in {finding}" for finding in serious_findings(ada)]
    ada.context.close()
    assert found == []
