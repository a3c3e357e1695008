"""The choice of a language: on pages and in the Explorer, and it stays."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.axe import serious_findings


def choose(page: Page, name: str) -> None:
    page.locator(".languages > summary").click()
    page.get_by_role("button", name=name).click()


def test_the_explorer_changes_its_language_where_it_is_and_keeps_it(
    page: Page, clinic: str
) -> None:
    page.goto(f"/runs/{clinic}/explore?c=3&tab=filter")
    expect(page.get_by_role("tab", name="Why")).to_be_visible()
    choose(page, "繁體中文")
    expect(page.get_by_role("tab", name="原因")).to_be_visible()
    expect(page.get_by_role("tab", name="Filter", selected=True)).to_be_visible()
    assert "c=3" in page.url
    for name in ("佇列", "叢集", "時間軸", "檢閱器"):
        expect(page.get_by_role("region", name=name, exact=True).first).to_be_visible()
    assert serious_findings(page) == []
    page.reload()
    expect(page.get_by_role("tab", name="原因")).to_be_visible()
    page.goto(f"/runs/{clinic}")
    expect(page.get_by_role("heading", name="12 個 Pod 為何待排程")).to_be_visible()
    page.goto("/learn/")
    expect(page.get_by_role("heading", name="什麼是節點？")).to_be_visible()
    choose(page, "English")
    expect(page.get_by_role("heading", name="What is a node?")).to_be_visible()


def test_nothing_overflows_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    wide = []
    for locale, lang in (("zh-CN", "zh-hans"), ("zh-TW", "zh-hant")):
        page.set_extra_http_headers({"Accept-Language": locale})
        for path in ("/", "/learn/", "/snapshots/new", "/glossary/", "/plugins/"):
            page.goto(path)
            expect(page.locator("html")).to_have_attribute("lang", lang)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(f"{path} in {lang}")
    assert wide == []
