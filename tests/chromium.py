"""The machine's Chromium: where it is, and how it is started."""

from __future__ import annotations

import os
import shutil

BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


class NoBrowser(Exception):
    """There is none; the text says what to install."""


def find_chromium() -> str:
    """The path of the browser; `KVIZ_CHROMIUM` names another one. Raises NoBrowser."""
    path = os.environ.get("KVIZ_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise NoBrowser(
            "A browser is needed: install Chromium (Debian: "
            "apt-get install chromium-headless-shell), or name one in KVIZ_CHROMIUM."
        )
    return path


def sandbox_arguments() -> list[str]:
    """As root it cannot have its own sandbox."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []
