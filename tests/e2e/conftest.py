"""The browser: an installed Chromium, the real server, and no error on the console."""

from __future__ import annotations

import json
import os
import shutil
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page

from tests.running_server import Server

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
RUN_TAKES_S = 60


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Use the machine's Chromium; as root it cannot have its own sandbox."""
    path = os.environ.get("KVIZ_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.fail("The browser tests need Chromium (Debian: apt-get install chromium).")
    args = [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    return {**browser_type_launch_args, "executable_path": path, "args": args}


@pytest.fixture(scope="session")
def base_url(server: Server) -> str:
    return server.base_url


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
        with urllib.request.urlopen(request, timeout=30) as response:
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
        with urllib.request.urlopen(request, timeout=30) as response:
            return str(json.load(response)["id"])

    def run(self, snapshot: str, **options: str) -> str:
        """Start a run and return its id."""
        return str(self.call("POST", "runs/", {"snapshot": snapshot, **options})["id"])

    def finished_run(self, snapshot: str, **options: str) -> str:
        """Run and wait for the end."""
        run = self.run(snapshot, **options)
        until = time.monotonic() + RUN_TAKES_S
        while (found := self.call("GET", f"runs/{run}/"))["status"] in ("queued", "running"):
            assert time.monotonic() < until, f"the run is still {found['status']}"
            time.sleep(0.05)
        assert found["status"] == "finished", found["error"]
        return run


@pytest.fixture(scope="session")
def api(server: Server) -> Api:
    return Api(server)


@pytest.fixture(scope="session")
def clinic(api: Api) -> str:
    """A finished run of the sample in which a dozen pods wait."""
    return api.finished_run(api.sample("why-pending"))


@pytest.fixture(scope="session")
def preemption(api: Api) -> str:
    """A finished run of the sample in which pods are evicted."""
    return api.finished_run(api.sample("preemption-budget"))


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
