"""The template tag that finds what Vite built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.template import Context, Template
from pytest_django import Settings

from kviz.common.templatetags.vite import NotBuilt
from kviz.project.settings import WHITENOISE_IMMUTABLE_FILE_TEST as is_immutable

MANIFEST = {
    "src/main.ts": {
        "file": "assets/main-abcd1234.js",
        "css": ["assets/main-abcd1234.css"],
        "imports": ["_shared.js"],
        "isEntry": True,
    },
    "_shared.js": {"file": "assets/shared-0000ffff.js", "css": ["assets/shared-0000ffff.css"]},
}
PAGE = Template('{% load vite %}{% vite "src/main.ts" %}')


def test_styles_preloads_and_the_script(settings: Settings, tmp_path: Path) -> None:
    settings.VITE_MANIFEST = tmp_path / "manifest.json"
    settings.VITE_MANIFEST.write_text(json.dumps(MANIFEST))

    html = PAGE.render(Context())

    assert html.count('<link rel="stylesheet"') == 2
    assert '<link rel="modulepreload" href="/static/kviz/assets/shared-0000ffff.js">' in html
    assert '<script type="module" src="/static/kviz/assets/main-abcd1234.js"></script>' in html


def test_assets_that_are_not_built(settings: Settings, tmp_path: Path) -> None:
    settings.VITE_MANIFEST = tmp_path / "manifest.json"

    with pytest.raises(NotBuilt, match="make setup"):
        PAGE.render(Context())


def test_hashed_names_may_be_cached_for_ever_and_others_not() -> None:
    assert is_immutable("", "/static/kviz/assets/main-BWb8T34G.css")
    assert not is_immutable("", "/static/css/tokens.css")
    assert not is_immutable("", "/static/kviz/manifest.json")
