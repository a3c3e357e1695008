"""The documents as pages: all are listed, links lead somewhere, HTML in them stays text."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils.translation import override

from kviz.document_text import TRANSLATED
from kviz.reference import documents, search
from kviz.reference.glossary import glossary

DOCS = Path(settings.DOCS_DIR)
NAMES = sorted(path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md"))
HREF = re.compile(r'(?:href|src)="(/[^"#]*)(?:#([^"]+))?"')

pytestmark = pytest.mark.django_db


def test_every_document_is_listed(client: Client) -> None:
    top = {name for name in NAMES if "/" not in name} | {"adr/README"}
    listed = [name for _title, group in documents.GROUPS for name in group]
    assert sorted(listed) == sorted(top)
    page = client.get("/docs/").content.decode()
    assert all(f'href="/docs/{name}"' in page for name in listed)


@pytest.mark.parametrize("name", NAMES)
def test_links_of_a_document_lead_to_pages(client: Client, name: str) -> None:
    found = documents.document(name)
    assert found is not None
    assert found.title
    assert client.get(found.url).status_code == 200
    for address, anchor in HREF.findall(found.html):
        assert not anchor or f'id="{anchor}"' in page_at(address), (address, anchor)


@cache
def page_at(address: str) -> str:
    """What a link leads to; many lead to the same page."""
    answer = Client().get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


@pytest.mark.parametrize("name", ["nothing", "../README", "adr", "adr/../concepts", "img/findings"])
def test_what_is_no_document_is_not_found(client: Client, name: str) -> None:
    assert documents.document(name) is None
    assert client.get(f"/docs/{name}").status_code == 404


def test_only_pictures_are_served_as_pictures(client: Client) -> None:
    assert client.get("/docs/img/performance.svg")["Content-Type"] == "image/svg+xml"
    assert client.get("/docs/img/nothing.svg").status_code == 404
    assert client.get("/docs/img/concepts.md").status_code == 404


def test_markdown_of_a_document(
    settings: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.conf.settings.DOCS_DIR", tmp_path)
    (tmp_path / "sample.md").write_text(
        "# Title\n\nFirst. Second.\n\n<script>alert(1)</script>\n\n## Same\n\n## Same\n\n"
        "[code](../kviz/run_file.py) [here](#same) [out](https://example.com)\n"
    )
    found = documents.document("sample")
    assert found is not None
    assert found.title == "Title"
    assert "<script>" not in found.html
    assert 'id="same"' in found.html
    assert 'id="same-1"' in found.html
    assert "<span>code</span>" in found.html
    assert '<a href="#same">' in found.html


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_translated_document_has_the_anchors_and_links_of_the_english_one(name: str) -> None:
    english = documents.document(name)
    with override("zh-hans"):
        found = documents.document(name)
    assert english is not None
    assert found is not None
    assert (found.language, english.language) == ("zh-hans", "en")
    assert found.title != english.title
    assert re.findall(r'id="[^"]+"', found.html) == re.findall(r'id="[^"]+"', english.html)
    assert sorted(HREF.findall(found.html)) == sorted(HREF.findall(english.html))
    assert re.findall(r"<pre.*?</pre>", found.html, re.DOTALL) == re.findall(
        r"<pre.*?</pre>", english.html, re.DOTALL
    )


def test_the_page_of_a_document_says_that_it_is_in_english_only(client: Client) -> None:
    client.post("/language", {"language": "zh-hans"})
    assert "这份文档只有英文版。" in client.get("/docs/architecture").content.decode()
    page = client.get("/docs/concepts").content.decode()
    assert "这份文档只有英文版。" not in page
    assert '<article class="document" lang="zh-hans">' in page
    client.post("/language", {"language": "en"})
    assert "in English only" not in client.get("/docs/architecture").content.decode()


def test_the_glossary_has_every_term_at_its_anchor(client: Client) -> None:
    page = client.get("/glossary/").content.decode()
    assert [key for key in glossary().terms if f'id="{key}"' not in page] == []
    assert page.count('class="diagram"') == 3


def test_words_are_found_from_their_beginning() -> None:
    assert [kind.title for kind in search.found("ominated")] == ["Then and now"]


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ("NodeResourcesFit", {"Plugins", "Guides", "Then and now"}),
        ("tie", {"Glossary", "Guides"}),
        ("SelectorSpread", {"Guides", "Then and now"}),
        ("no word like xyzzy", set()),
    ],
)
def test_words_are_found_in_what_there_is_to_read(words: str, kinds: set[str]) -> None:
    answer = search.found(words)
    assert {kind.title for kind in answer} >= kinds
    assert bool(answer) == bool(kinds)
    for kind in answer:
        for each in kind.found:
            page, _, anchor = each.url.partition("#")
            assert not anchor or f'id="{anchor}"' in page_at(page)
