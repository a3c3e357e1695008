"""Every page that links lead to, as a person with a browser finds it."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

from django.test import Client

ALIKE = re.compile(r"/(?:docs|pods|nodes|cycles)/.+")
"""What differs between pages of a kind: many are alike.

`test_documents.py` follows the links of each document.
"""
KINDS_SEEN = 3
"""So many pages of a kind are opened."""


class Page(HTMLParser):
    """What a test wants to know of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.links: list[str] = []
        self.inline: list[str] = []
        self.ids: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if found.get("id"):
            self.ids.append(str(found["id"]))
        handlers = [name for name in found if name.startswith("on") or name == "style"]
        if handlers or (tag == "script" and "src" not in found) or tag == "style":
            self.inline.append(f"<{tag} {' '.join(handlers)}>")


def crawl(client: Client, start: str, leave: re.Pattern[str]) -> dict[str, Page]:
    """All pages by their addresses but those to leave; each link leads somewhere."""
    found: dict[str, Page] = {}
    seen, waiting, kinds = {start}, [start], Counter[str]()
    while waiting:
        address = waiting.pop(0)
        kind = ALIKE.sub("*", urlsplit(address).path)
        kinds[kind] += 1
        if kinds[kind] > KINDS_SEEN:
            continue
        response = client.get(address)
        assert response.status_code == 200, (address, response.status_code)
        is_html = response["Content-Type"].startswith("text/html")
        if not is_html or "attachment" in response.get("Content-Disposition", ""):
            continue
        found[address] = Page(response.content.decode())
        for link in found[address].links:
            target = urldefrag(urljoin(address, link)).url
            if not urlsplit(target).netloc and not leave.match(target) and target not in seen:
                seen.add(target)
                waiting.append(target)
    return found
