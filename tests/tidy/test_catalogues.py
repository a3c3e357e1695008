"""Every text of a page is in the catalogues that translators work on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils.translation.template import templatize

ROOT = Path(__file__).parents[2]
CATALOGUES = sorted((ROOT / "locale").glob("*/LC_MESSAGES/django.po"))
RENEW = (
    "run: .venv/bin/python manage.py makemessages -l zh_Hans -l zh_Hant --add-location file "
    "--no-obsolete -i .venv -i frontend -i tests -i docs"
)
MARKED = {"gettext", "gettext_lazy", "ngettext", "_"}
STRING = re.compile(r"\s*u?('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\s*(,)?", re.DOTALL)


def texts_of_templates() -> Iterator[str]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        source = templatize(path.read_text(encoding="utf-8"), origin=str(path))
        for start in re.finditer(r"\bn?gettext\(|(?<!\w)_\(", source):
            plural = source[start.start()] == "n"
            rest = source[start.end() :]
            for _ in range(2 if plural else 1):
                found = STRING.match(rest)
                assert found is not None, (path, rest[:60])
                yield str(ast.literal_eval(found[1]))
                rest = rest[found.end() :]


def texts_of_code() -> Iterator[str]:
    for path in sorted((ROOT / "kviz").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id in MARKED:
                for text in node.args[: 2 if node.func.id == "ngettext" else 1]:
                    assert isinstance(text, ast.Constant), f"{path}:{node.lineno}"
                    yield str(text.value)


def texts_of_catalogue(path: Path) -> set[str]:
    blocks = re.findall(
        r'^msgid(?:_plural)? (".*"(?:\n".*")*)$', path.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {"".join(ast.literal_eval(line) for line in block.splitlines()) for block in blocks}


def test_there_are_catalogues() -> None:
    assert [path.parts[-3] for path in CATALOGUES] == ["zh_Hans", "zh_Hant"]


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_no_text_is_missing_from_a_catalogue(path: Path) -> None:
    used = {*texts_of_templates(), *texts_of_code()}
    assert len(used) > 300
    assert used - texts_of_catalogue(path) == set(), RENEW


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_no_catalogue_keeps_a_text_that_is_gone(path: Path) -> None:
    used = {*texts_of_templates(), *texts_of_code(), ""}
    assert texts_of_catalogue(path) - used == set(), RENEW
