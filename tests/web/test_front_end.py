"""Pages load what Vite built, or what its development server sends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from csp.constants import NONCE
from django.template import Context, Template
from django_vite.core.asset_loader import DjangoViteAssetLoader
from pytest_django import Settings

from kviz.environment import vite_server
from kviz.project.content_security import directives
from kviz.project.settings import WHITENOISE_IMMUTABLE_FILE_TEST as is_immutable
from kviz.runs.pages.cycles import EXPLORER, explorer_is_built

MANIFEST = {
    EXPLORER: {
        "file": "assets/main-abcd1234.js",
        "css": ["assets/main-abcd1234.css"],
        "imports": ["_shared.js"],
        "isEntry": True,
    },
    "_shared.js": {"file": "assets/shared-0000ffff.js", "css": ["assets/shared-0000ffff.css"]},
}
PAGE = Template("{% load django_vite %}{% vite_hmr_client %}{% vite_asset 'src/main.ts' %}")


@pytest.fixture(autouse=True)
def _read_settings_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DjangoViteAssetLoader, "_instance", None)


def vite(settings: Settings, **changes: Any) -> None:
    settings.DJANGO_VITE = {"default": {"static_url_prefix": "kviz", **changes}}


def test_styles_preloads_and_the_script(settings: Settings, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(MANIFEST))
    vite(settings, manifest_path=manifest)

    html = PAGE.render(Context())

    assert explorer_is_built()
    assert html.count('rel="stylesheet"') == 2
    assert html.count('rel="modulepreload"') == 1
    assert "/static/kviz/assets/shared-0000ffff.js" in html
    assert 'src="/static/kviz/assets/main-abcd1234.js"' in html
    assert ":5173" not in html


def test_assets_that_are_not_built(settings: Settings, tmp_path: Path) -> None:
    vite(settings, manifest_path=tmp_path / "manifest.json")

    assert not explorer_is_built()


def test_a_development_server_sends_the_sources(settings: Settings) -> None:
    vite(settings, manifest_path="none", **vite_server("http://localhost:5173"))

    html = PAGE.render(Context())

    assert explorer_is_built()
    assert 'src="http://localhost:5173/static/kviz/@vite/client"' in html
    assert 'src="http://localhost:5173/static/kviz/src/main.ts"' in html


def test_only_a_development_server_loosens_the_policy() -> None:
    strict, loose = directives(""), directives("http://localhost:5173")

    assert strict["style-src"] == ["'self'", NONCE]
    assert "script-src" not in strict
    assert loose["script-src"] == ["'self'", "http://localhost:5173"]
    assert "ws://localhost:5173" in loose["connect-src"]


def test_hashed_names_may_be_cached_for_ever_and_others_not() -> None:
    assert is_immutable("", "/static/kviz/assets/main-BWb8T34G.css")
    assert not is_immutable("", "/static/css/tokens.css")
    assert not is_immutable("", "/static/kviz/manifest.json")
