"""A run as one page: whole, self-contained, and no larger than is said."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from pytest_django import Settings

from kviz.runs.models import Run
from kviz.runs.portable import offline
from kviz.runs.reading import trace
from kviz.runs.sharing import run_share
from tests.web.cast import Person, crowd, problem
from tests.web.test_saved_runs import body

HOSTILE = "x</script><script>alert(1)</script><!-- <b>"


class Parsed(HTMLParser):
    """Every element with its attributes and its text, as a browser would take it apart."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str], str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}, ""))

    def handle_endtag(self, tag: str) -> None:
        self.elements.append(("", {}, ""))

    def handle_data(self, data: str) -> None:
        if self.elements:
            tag, attributes, text = self.elements[-1]
            self.elements[-1] = (tag, attributes, text + data)

    def texts(self, name: str) -> list[tuple[dict[str, str], str]]:
        return [(a, text) for _, a, text in self.elements if name in a]


@pytest.fixture(autouse=True)
def _small_explorer(settings: Settings, tmp_path: Path) -> None:
    """Stand-ins for what Vite builds, with all that could break out of its element."""
    (tmp_path / "static" / "kviz-offline").mkdir(parents=True)
    for name in ("css", "kviz"):
        (tmp_path / "static" / name).symlink_to(settings.SHARE / "static" / name)
    script = "const a = `</script><!--<script>`; if (1 <2) a;"
    (tmp_path / "static" / "kviz-offline" / "explorer.js").write_text(script)
    (tmp_path / "static" / "kviz-offline" / "explorer.css").write_text("i { content: '</style>' }")
    settings.SHARE = tmp_path


def page_of(run: Run) -> str:
    return b"".join(offline.pieces(run)).decode()


def test_the_trace_is_in_the_page(ada: Person) -> None:
    run = ada.finished(crowd(130))
    page = Parsed(page_of(run))

    chunks = list(trace.chunks(run=run))
    headers, details = page.texts("data-headers"), page.texts("data-details")
    assert len(chunks) == len(headers) == len(details) > 1
    for chunk, (at, text), (of, columns) in zip(chunks, headers, details, strict=True):
        assert base64.b64decode(text) == chunk.headers
        assert (at["data-first"], at["data-last"]) == (
            str(chunk.first_cycle),
            str(chunk.last_cycle),
        )
        assert of["data-details"] == at["data-headers"]
        assert base64.b64decode(columns) == chunk.details
    (status,) = [text for _, a, text in page.elements if a.get("id") == "status"]
    assert msgspec.json.decode(status)["last_seq"] == run.last_seq


def test_it_refers_to_nothing_and_may_run_its_own_script_only(ada: Person) -> None:
    html = page_of(ada.finished())
    page = Parsed(html)

    addresses = [
        a.get("src") or a.get("href") for _, a, _ in page.elements if {"src", "href"} & {*a}
    ]
    assert addresses == ["data:,"]
    (policy,) = [a["content"] for _, a, _ in page.elements if "http-equiv" in a]
    assert policy.startswith("default-src 'none'; ")
    scripts = [text for tag, a, text in page.elements if tag == "script" and "type" not in a]
    assert len(scripts) == 2
    for text in scripts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "</script" not in scripts[1]
    (style,) = [text for tag, _, text in page.elements if tag == "style"]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy


def test_names_cannot_break_out(ada: Person) -> None:
    run = ada.finished()
    assert run.snapshot is not None
    run.snapshot.name = HOSTILE
    run.snapshot.save()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.FAILED, error=HOSTILE)
    run.refresh_from_db()
    page = Parsed(page_of(run))
    (name,) = [a["data-name"] for _, a, _ in page.elements if "data-name" in a]
    assert name == HOSTILE
    (status,) = [text for _, a, text in page.elements if a.get("id") == "status"]
    assert msgspec.json.decode(status)["error"] == HOSTILE


def test_it_is_downloaded(ada: Person) -> None:
    run = ada.finished()
    response = ada.get(f"/runs/{run.pk}/page/")
    name = f"cluster-{str(run.pk)[:8]}.html"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    assert body(response).decode() == page_of(run)


def test_a_run_that_goes_on_is_no_page_yet(ada: Person) -> None:
    problem(ada.get(f"/runs/{ada.queued().pk}/page/"), 409)


def test_a_page_that_would_be_too_large_is_refused_with_advice(
    ada: Person, settings: Settings
) -> None:
    run = ada.finished()
    assert re.search(r'href="[^"]+/page/[^"]*" download', detail_of(ada, run))
    settings.MAX_OFFLINE_BYTES = 10_000
    told = problem(ada.get(f"/runs/{run.pk}/page/"), 413)
    assert "Save it as a file instead" in told["detail"]
    html = detail_of(ada, run)
    assert "Save it as a file instead" in html
    assert "/page/" not in html


def test_without_the_built_explorer_there_is_no_page(ada: Person, settings: Settings) -> None:
    run = ada.finished()
    (settings.SHARE / "static" / "kviz-offline" / "explorer.js").unlink()
    problem(ada.get(f"/runs/{run.pk}/page/"), 503)
    assert "/page/" not in detail_of(ada, run)


def detail_of(who: Person, run: Run) -> str:
    token = run_share(run=run).token
    return str(who.client.get(f"/runs/{run.pk}?share={token}").content.decode())


def test_what_is_said_of_its_size_is_about_right(ada: Person) -> None:
    run = ada.finished(crowd(300))
    assert offline.expected_bytes(run) == pytest.approx(len(page_of(run)), rel=0.05)
