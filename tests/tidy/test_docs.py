"""The documents point at things that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from kviz.distribution import with_extra
from kviz.reference.fidelity import differences, report
from kviz.reference.plugin_guide import guide_of

ROOT = Path(__file__).parents[2]
AT_THE_TOP = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
DOCUMENTS = sorted([*(ROOT / name for name in AT_THE_TOP), *(ROOT / "docs").rglob("*.md")])
LINE_LENGTH = 160
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
ADR = ROOT / "docs" / "adr"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    links = LINK.findall(document.read_text(encoding="utf-8"))
    inside = [link for link in links if "://" not in link]
    assert [link for link in inside if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_lines_fit_a_screen(document: Path) -> None:
    """A row of a table is one line in Markdown and cannot be wrapped."""
    lines = document.read_text(encoding="utf-8").splitlines()
    long = [n for n, line in enumerate(lines, 1) if len(line) > LINE_LENGTH and line[0] != "|"]
    assert long == []


def test_this_version_is_in_the_changes() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]
    assert f"\n## {version}\n\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


WHEEL = re.compile(r"kviz[\w.-]*\.whl")
FOREIGN = re.compile(
    r"kviz\[|(?:pipx?|uv tool) install (?:--?[a-z-]+ )*[\"']?kviz[\"']?(?![\w./-])"
)
"""What would install the package that has the name on the public registry."""


def test_nobody_is_told_to_install_what_is_not_ours() -> None:
    paths = [*DOCUMENTS, *(ROOT / "deploy").rglob("*"), *(ROOT / "kviz").rglob("*.*")]
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in paths
        if path.suffix in (".md", ".py", ".yaml", ".html", "") and path.is_file()
    }
    assert [path for path, text in texts.items() if FOREIGN.search(text)] == []
    wheels = {wheel for text in texts.values() for wheel in WHEEL.findall(text)}
    assert {f"./{wheel}[mcp]" for wheel in wheels} == {with_extra("mcp").split("'")[1]}


TARGET = re.compile(r"\bmake (?:--silent )?([a-z][a-z-]*)")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", ".pre-commit-config.yaml"])
def test_make_knows_what_the_documents_tell_people_to_make(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    made = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(TARGET.findall(text)) - set(made) == set()


def test_every_decision_is_in_the_index() -> None:
    index = set(LINK.findall((ADR / "README.md").read_text(encoding="utf-8")))
    assert index == {path.name for path in ADR.glob("[0-9]*.md")}


def test_every_known_difference_has_its_decision() -> None:
    assert [d.adr for d in differences() if not (ADR / f"{d.adr}.md").is_file()] == []


def test_the_fidelity_report_is_of_plugins_that_have_a_page() -> None:
    found = report()
    assert found is not None
    assert found.identical == found.cases - len({failure.name for failure in found.failures})
    assert [name for name in found.by_plugin if guide_of(name) is None] == []
