"""Finding the browser, and saying so where there is none."""

from __future__ import annotations

import pytest

from tests import bench_ui
from tests.chromium import NoBrowser, find_chromium


def test_the_browser_that_is_named_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVIZ_CHROMIUM", "/opt/browser")
    assert find_chromium() == "/opt/browser"


@pytest.fixture
def _no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KVIZ_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")


@pytest.mark.usefixtures("_no_browser")
def test_without_one_it_says_what_to_install() -> None:
    with pytest.raises(NoBrowser, match="apt-get install chromium-headless-shell"):
        find_chromium()


@pytest.mark.usefixtures("_no_browser")
def test_the_benchmark_says_so_before_it_starts_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["bench-ui"])
    with pytest.raises(SystemExit, match="apt-get install chromium-headless-shell"):
        bench_ui.main()
