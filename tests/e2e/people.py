"""Browsers of several people in one test; the classes they opened end with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from playwright.sync_api import Browser, BrowserContext, Page


class Open(Protocol):
    """Open a browser of its own for somebody; with the cookies of `like`, if there is one."""

    def __call__(
        self, size: tuple[int, int], language: str = "en", like: Page | None = None
    ) -> Page: ...


@contextmanager
def people_at(browser: Browser, base_url: str) -> Iterator[Open]:
    contexts: list[BrowserContext] = []

    def open_browser(size: tuple[int, int], language: str = "en", like: Page | None = None) -> Page:
        context = browser.new_context(
            base_url=base_url,
            viewport={"width": size[0], "height": size[1]},
            locale=language,
            storage_state=like.context.storage_state() if like else None,
        )
        contexts.append(context)
        return context.new_page()

    yield open_browser
    for context in contexts:
        _end_classes(context.new_page())
        context.close()


def _end_classes(page: Page) -> None:
    """A workspace has only so many open at once, and all tests share one."""
    page.goto("/class/open/")
    desks = page.locator(".class__rooms a[href$='/lead']")
    for desk in [each.get_attribute("href") or "" for each in desks.all()]:
        page.goto(desk)
        page.locator("form[action$='/end'] button").evaluate("(button) => button.form.submit()")
        page.wait_for_url("**/class/open/")
