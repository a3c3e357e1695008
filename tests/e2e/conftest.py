"""The browser: an installed Chromium, the real server, and no error on the console."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from tests import data_folder
from tests.chromium import NoBrowser, find_chromium, sandbox_arguments
from tests.e2e.people import Open, people_at
from tests.running_server import Server
from tests.waiting import PATIENCE_S, eventually

QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


EXPECTED_WITHIN_MS = 30_000
"""How long a page may take on a busy machine for what is there at once on a quiet one."""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Use the machine's Chromium."""
    try:
        path = find_chromium()
    except NoBrowser as error:
        pytest.fail(str(error))
    args = [*QUIET, *sandbox_arguments()]
    return {**browser_type_launch_args, "executable_path": path, "args": args}


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Playwright for these tests only: while it is there, an event loop runs in this thread."""
    expect.set_options(timeout=EXPECTED_WITHIN_MS)
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(playwright: Playwright, browser_type_launch_args: dict[str, Any]) -> Iterator[Browser]:
    browser = playwright.chromium.launch(**browser_type_launch_args)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def base_url(server: Server) -> str:
    return server.base_url


@pytest.fixture(scope="package")
def browser_context_args(base_url: str) -> dict[str, Any]:
    """Let paths without a host lead to the server under test."""
    return {"base_url": base_url}


@dataclass(frozen=True)
class Api:
    """The REST interface of the server under test, for what a test needs but does not test."""

    server: Server

    def call(self, method: str, path: str, body: object | None = None) -> Any:
        request = urllib.request.Request(
            f"{self.server.base_url}/api/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.server.token}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
            return json.load(response)

    def sample(self, name: str) -> str:
        """The id of a sample cluster's snapshot."""
        found = [s["id"] for s in self.call("GET", "snapshots/") if s["name"] == name]
        assert found, f"the sample {name} is not loaded"
        return str(found[0])

    def upload(self, text: str) -> str:
        """Upload YAML and return the snapshot's id."""
        request = urllib.request.Request(
            f"{self.server.base_url}/api/v1/snapshots/",
            method="POST",
            data=text.encode(),
            headers={
                "Authorization": f"Bearer {self.server.token}",
                "Content-Type": "application/yaml",
            },
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
            return str(json.load(response)["id"])

    def run(self, snapshot: str, **options: str) -> str:
        """Start a run and return its id."""
        return str(self.call("POST", "runs/", {"snapshot": snapshot, **options})["id"])

    def finished_run(self, snapshot: str, **options: str) -> str:
        """Run and wait for the end."""
        run = self.run(snapshot, **options)
        self._wait_for(f"runs/{run}/")
        return run

    def finished_experiment(self, snapshot: str, **asked: object) -> str:
        """Carry out an experiment and wait for the end."""
        made = self.call("POST", "experiments/", {"snapshot": snapshot, **asked})
        self._wait_for(f"experiments/{made['id']}/")
        return str(made["id"])

    def _wait_for(self, path: str) -> None:
        def over() -> Any:
            found = self.call("GET", path)
            return found if found["status"] not in ("queued", "running") else None

        found = eventually(over)
        assert found["status"] == "finished", found["error"]


@pytest.fixture(scope="session")
def api(server: Server) -> Api:
    return Api(server)


@pytest.fixture(scope="session")
def clinic(server: Server) -> str:
    """A finished run of the sample in which a dozen pods wait."""
    return data_folder.finished_run(server.data_dir, "why-pending")


@pytest.fixture(scope="session")
def preemption(server: Server) -> str:
    """A finished run of the sample in which pods are evicted."""
    return data_folder.finished_run(server.data_dir, "preemption-budget")


@pytest.fixture
def people(browser: Browser, base_url: str) -> Iterator[Open]:
    """Open a browser of its own for each of several people."""
    with people_at(browser, base_url) as open_browser:
        yield open_browser


@pytest.fixture(autouse=True)
def _no_console_errors(context: BrowserContext) -> Iterator[None]:
    """Fail a test during which a page logged an error; a 4xx answer is none by itself."""
    errors: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            errors.append(message.text)

    def on_page(page: Page) -> None:
        page.on("console", on_console)
        page.on("pageerror", lambda error: errors.append(str(error)))

    context.on("page", on_page)
    yield
    assert errors == []
