"""The house rules that a machine can check, over everything that is committed."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import kviz
import scheduler_core

ROOT = Path(__file__).parents[2]
MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 500
SOURCES = (".py", ".ts", ".svelte", ".js")
FOREIGN = re.compile(
    r"/migrations/|/data/|package-lock\.json|requirements(-test)?\.lock|wire/events\.ts"
)
"""Generated files and recorded data, which follow no style of ours."""

VAGUE = re.compile(r"(^|_)(utils?|helpers?|managers?)(_|$)|(Utils?|Helpers?|Managers?)$")
NAME = re.compile(r"^\s*(?:async )?(?:def|class) (\w+)", re.MULTILINE)
ASKS = re.compile(r"\b(getattr|hasattr)\(")
REGISTRIES = re.compile(
    "|".join(
        ("pypi" r"\.org", "pythonhosted" r"\.org", "registry" r"\.npmjs", r"deb\.debian" r"\.org")
    )
)
MACHINE_PATHS = re.compile(r"(^|[^a-z.\w])/(work|farm|" "root" r"|home/\w+)/")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
ENTRANCE = "scheduler_core/registry.py"
"""Where plugins of other people come in, which may lack anything."""
SKIPS = re.compile(r"pytest\.(mark\.)?(skip|xfail)|@unittest\.skip")


@cache
def committed() -> list[Path]:
    """Every file under version control, or to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def sources(*suffixes: str) -> list[Path]:
    return [
        path
        for path in committed()
        if path.suffix in suffixes and not FOREIGN.search("/" + relative(path))
    ]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def lines_matching(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    found = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{relative(path)}:{number}: {line.strip()[:120]}"
            for number, line in enumerate(text.splitlines(), 1)
            if pattern.search(line)
        ]
    return found


def functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All below a node; looked for where statements are, not in their expressions."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        below = getattr(node, name, ())
        for child in below if isinstance(below, list) else ():
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield child
            yield from functions(child)


@pytest.mark.slow("parses every module")
def test_functions_fit_a_screen() -> None:
    long = [
        f"{relative(path)}:{node.lineno} {node.name}: {length} lines"
        for path in sources(".py")
        if (text := path.read_text(encoding="utf-8")).count("\n") > MAX_FUNCTION_LINES
        for node in functions(ast.parse(text))
        if (length := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_files_are_short_enough_to_be_one_thing() -> None:
    long = [
        f"{relative(path)}: {length} lines"
        for path in sources(*SOURCES)
        if (length := len(path.read_text(encoding="utf-8").splitlines())) > MAX_FILE_LINES
    ]
    assert long == []


def test_the_engine_asks_no_object_for_a_method_that_may_be_missing() -> None:
    """`getattr` with a default, or with a name that could be written out, hides a type."""
    hidden = [
        f"{relative(path)}:{node.lineno}"
        for path in sources(".py")
        if relative(path).startswith("scheduler_core/") and relative(path) != ENTRANCE
        if ASKS.search(text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("getattr", "hasattr")
        and (len(node.args) == 3 or isinstance(node.args[1], ast.Constant))
    ]
    assert hidden == []


def test_names_say_something() -> None:
    modules = [relative(p) for p in sources(*SOURCES) if VAGUE.search(p.stem)]
    names = [
        f"{relative(path)}: {name}"
        for path in sources(".py")
        for name in NAME.findall(path.read_text(encoding="utf-8"))
        if VAGUE.search(name)
    ]
    assert modules + names == []


def test_nothing_committed_names_a_registry() -> None:
    assert lines_matching(REGISTRIES, committed()) == []


def test_nothing_committed_names_a_path_of_some_machine() -> None:
    texts = [p for p in committed() if "/data/" not in relative(p)]
    assert lines_matching(MACHINE_PATHS, texts) == []


def test_nothing_is_left_unfinished() -> None:
    assert lines_matching(UNFINISHED, sources(*SOURCES, ".html", ".md")) == []


def test_a_skip_says_which_decision_allows_it() -> None:
    tests = [path for path in sources(".py") if relative(path).startswith("tests/")]
    mine = relative(Path(__file__))
    bare = [
        line
        for line in lines_matching(SKIPS, tests)
        if "ADR" not in line and not line.startswith(mine)
    ]
    assert bare == []


@pytest.mark.slow("imports every module")
@pytest.mark.parametrize("package", [scheduler_core, kviz], ids=lambda p: p.__name__)
def test_every_error_says_when_it_is_raised(package: object) -> None:
    assert inspect.ismodule(package)
    undocumented = []
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if ".migrations" in found.name or found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        undocumented += [
            f"{found.name}.{name}"
            for name, value in vars(module).items()
            if inspect.isclass(value)
            and issubclass(value, BaseException)
            and value.__module__ == found.name
            and not vars(value).get("__doc__")
        ]
    assert undocumented == []


@pytest.mark.django_db
def test_migrations_say_what_the_models_say() -> None:
    from django.core.management import call_command

    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
