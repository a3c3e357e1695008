"""What a command imports: its own module, and of libraries only those that it uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kviz.cli.main import COMMANDS, parser
from tests.cluster_text import node, pod

PROGRAM = """
import sys
from kviz.cli import main
try:
    main()
finally:
    print("imported", *sys.modules)
"""
PENDING_POD = node("n1", "1", "", "10") + pod("big", "2", namespace="dev")
MODULES = {name: module for name, module, _ in COMMANDS}


def imported_by(*arguments: str) -> set[str]:
    """The modules that are imported when a command has ended."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def packages(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def test_help_imports_no_command() -> None:
    imported = imported_by("--help")
    assert imported.isdisjoint(MODULES.values())
    assert packages(imported).isdisjoint({"numpy", "scheduler_core", "django", "msgspec"})


@pytest.mark.parametrize("name", ["gates", "serve", "mcp"])
def test_help_of_a_command_imports_this_command_alone(name: str) -> None:
    assert imported_by(name, "--help").intersection(MODULES.values()) == {MODULES[name]}


def test_lessons_are_checked_without_a_server() -> None:
    assert "kviz.lessons.checking" in imported_by("lesson", "template")


def test_explain_imports_what_it_uses(tmp_path: Path) -> None:
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(PENDING_POD)
    imported = imported_by("explain", str(cluster))
    assert packages(imported).isdisjoint(
        {"django", "environ", "kubernetes", "httpx", "websockets", "highspy", "asyncio"}
    )
    assert packages(imported).isdisjoint({"yaml", "cel_expr_python"}), "of good YAML without CEL"
    assert imported.isdisjoint({"numpy.ma", "importlib.metadata"})


def test_every_module_brings_the_command_of_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    for name in MODULES:
        with pytest.raises(SystemExit) as ended:
            parser(name).parse_args([name, "--help"])
        assert (ended.value.code, capsys.readouterr().out.split()[:3]) == (
            0,
            ["usage:", "kviz", name],
        )
