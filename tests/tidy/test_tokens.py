"""The design tokens: the two dark blocks agree, and text on every surface is readable."""

import re
from pathlib import Path

import pytest

CSS = Path(__file__).parents[2] / "static" / "css" / "tokens.css"
DECLARATION = re.compile(r"(--k-[\w-]+):\s*([^;]+);")
AA_TEXT = 4.5
AA_GRAPHICS = 3.0


def block(selector: str) -> dict[str, str]:
    text = CSS.read_text(encoding="utf-8")
    found = re.search(re.escape(selector) + r"\s*\{(.*?)\}", text, re.DOTALL)
    assert found is not None, selector
    return dict(DECLARATION.findall(found.group(1)))


LIGHT = block(":root")
DARK = block(':root[data-theme="dark"]')


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_system_and_the_chosen_dark_theme_are_the_same() -> None:
    assert block(':root:not([data-theme="light"])') == DARK


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("text", ["ink", "ink-2", "ink-3", "link"])
@pytest.mark.parametrize("surface", ["bg", "surface", "sunken"])
def test_text_is_readable(theme: dict[str, str], text: str, surface: str) -> None:
    assert contrast(theme[f"--k-{text}"], theme[f"--k-{surface}"]) >= AA_TEXT


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    "meaning", ["feasible", "rejected", "chosen", "nominated", "victim", "unexamined"]
)
def test_meanings_are_readable_on_their_wash(theme: dict[str, str], meaning: str) -> None:
    ink = theme[f"--k-{meaning}-ink"]
    assert contrast(ink, theme[f"--k-{meaning}-wash"]) >= AA_TEXT
    assert contrast(ink, theme["--k-surface"]) >= AA_TEXT


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_borders_of_controls_can_be_seen(theme: dict[str, str]) -> None:
    assert contrast(theme["--k-line-strong"], theme["--k-bg"]) >= AA_GRAPHICS
