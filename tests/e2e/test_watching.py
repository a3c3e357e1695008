"""Watching a real scheduler: what it asks appears in the Explorer; the rest is unknown."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.axe import serious_findings

Ask = Callable[[str, str, object], None]


@pytest.fixture
def ask(page: Page) -> Ask:
    """Begin a session as a person does; what comes back asks as a scheduler does."""
    page.goto("/extender/")
    page.get_by_label("Name").fill("Staging")
    page.get_by_role("button", name="Start a live session").click()
    prefix = re.search(r"urlPrefix: (\S+)", page.locator("pre").inner_text())
    assert prefix is not None

    def send(verb: str, pod: str, more: object) -> None:
        metadata = {"name": pod, "namespace": "shop", "uid": f"uid-{pod}"}
        body = {"Pod": {"metadata": metadata, "spec": {"containers": [{"name": "c"}]}}, **more}  # type: ignore[dict-item]
        request = urllib.request.Request(f"{prefix[1]}/{verb}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 200

    return send


def story(page: Page) -> Locator:
    return page.get_by_role("region", name="Pipeline").get_by_role("paragraph")


def test_questions_appear_as_they_come(page: Page, ask: Ask) -> None:
    session = page.url
    page.get_by_role("link", name="Watch it live").click()
    expect(story(page)).to_contain_text("Listening. The first pod")

    for verb in ("filter", "prioritize"):
        ask(verb, "web", {"NodeNames": ["a", "b", "c"]})
    expect(story(page)).to_contain_text("shop/web: 3 nodes passed the scheduler's filters.")

    ask("filter", "db", {"NodeNames": ["b"]})
    ask("prioritize", "db", {"NodeNames": ["b"]})
    expect(story(page)).to_contain_text("shop/db: 1 node passed the scheduler's filters.")
    pods = page.get_by_role("group", name="Pods it tried")
    expect(pods.get_by_role("button")).to_have_text([re.compile("shop/db"), re.compile("shop/web")])
    page.get_by_role("tab", name="Filter").click()
    expect(
        page.get_by_role("table", name="Nodes of this attempt").get_by_text("unknown")
    ).to_have_count(2)

    victims = {"a": {"Pods": [{"UID": "uid-web"}], "NumPDBViolations": 1}}
    ask("preempt", "vip", {"NodeNameToMetaVictims": victims})
    expect(story(page)).to_contain_text("shop/vip is unschedulable.")
    page.get_by_role("tab", name="Preempt").click()
    expect(page.get_by_role("tabpanel").get_by_role("button", name="shop/web")).to_be_visible()

    pods.get_by_role("button", name="shop/web").click()
    page.get_by_role("tab", name="Why").click()
    expect(page.get_by_text("It went to a: a later call, or its cluster, says so.")).to_be_visible()
    assert serious_findings(page) == []

    page.goto(session)
    expect(page.get_by_text("shop/vip")).to_be_visible()
    assert serious_findings(page) == []
    page.get_by_role("button", name="Revoke").click()
    page.get_by_role("link", name="Step through").click()
    expect(page.get_by_text("Recorded")).to_be_visible()
