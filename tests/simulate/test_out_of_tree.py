"""Plugins of other packages: found, allowed or refused, loaded only when a configuration asks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kviz.cli.main import main
from kviz.out_of_tree import OutOfTreePlugin, load_plugins
from kviz.simulate import Outcome, read_files
from kviz.simulate import run as simulate_files
from scheduler_core.config import (
    ConfigError,
    KubeSchedulerConfiguration,
    default_configuration,
    load_configuration,
)
from scheduler_core.registry import in_tree_registry
from scheduler_core.releases import LATEST
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.events import (
    FilterColumns,
    HeaderEvent,
    ScoreColumns,
)
from tests.plugin_packages import EXAMPLE, install, install_example

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
CONFIG = (EXAMPLE / "config.yaml").read_text(encoding="utf-8")
MODULES = ("rack_sibling", "sample_plugin")

PLUGIN = """\
from scheduler_core.framework.status import SUCCESS

class Sample:
    name = "Sample"

    def __init__(self, args, handle):
        pass

    def filter_node(self, state, pod, node):
        return SUCCESS

class Other(Sample):
    name = "Other"

not_a_class = 7
"""


@pytest.fixture(autouse=True)
def _forget_modules() -> Iterator[None]:
    yield
    for name in MODULES:
        sys.modules.pop(name, None)


def enabling(*names: str) -> KubeSchedulerConfiguration:
    return enabling_at("filter", *names)


def enabling_at(point: str, *names: str) -> KubeSchedulerConfiguration:
    plugins = "".join(f"{{name: {name}}}, " for name in names)
    return load_configuration(
        f"{HEAD}profiles:\n- plugins:\n    {point}:\n      enabled: [{plugins}]\n"
    )


def problems(
    configuration: KubeSchedulerConfiguration, allowed: Sequence[str] | None = None
) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        load_plugins(configuration, allowed)
    return [(problem.field, problem.message) for problem in caught.value.problems]


# ---------------------------------------------------------------- the example of the tutorial


def outcome(configuration: str) -> Outcome:
    options = RunOptions()
    if configuration:
        read = load_configuration(configuration)
        options = RunOptions(configuration=read, registry=load_plugins(read).registry)
    return simulate_files(list(read_files([EXAMPLE / "cluster.yaml"]).objects), options)


def nodes(found: Outcome) -> dict[str, str]:
    return {cycle.pod: cycle.node for cycle in found.cycles}


def test_the_example_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_example(tmp_path, monkeypatch)
    assert nodes(outcome(CONFIG)) == {"shop/db-1": "east-1", "shop/visitor": "floor-1"}
    assert nodes(outcome("")) == {"shop/db-1": "floor-1", "shop/visitor": "floor-1"}


def test_the_example_in_the_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_example(tmp_path, monkeypatch)
    configuration = load_configuration(CONFIG)
    options = RunOptions(configuration=configuration, registry=load_plugins(configuration).registry)
    cluster = read_files([EXAMPLE / "cluster.yaml"])
    events = list(simulate(list(cluster.objects), options))
    plugins = next(
        e.plugins for e in events if isinstance(e, HeaderEvent) and hasattr(e, "plugins")
    )
    number = plugins.index("RackSibling")

    filtered = [event for event in events if isinstance(event, FilterColumns)]
    ((rejected,), none) = ([s for s in f.statuses if s.plugin == number] for f in filtered)
    assert rejected.code == "UnschedulableAndUnresolvable"
    assert rejected.reasons == ("node(s) stood in no rack",)
    assert none == []
    scored = [event for event in events if isinstance(event, ScoreColumns)]
    mine = [[s for s in each.plugins if s.plugin == number] for each in scored]
    assert [len(each) for each in mine] == [1, 0]
    (first,) = mine[0]
    assert first.weight == 5
    assert (first.raw.array().tolist(), first.normalized.array().tolist()) == ([1, 0], [100, 0])


def test_the_example_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install_example(tmp_path, monkeypatch)
    files = [str(EXAMPLE / "cluster.yaml"), "--config", str(EXAMPLE / "config.yaml")]
    assert main(["simulate", *files]) == 0
    printed = capsys.readouterr()
    assert "shop/db-1" in printed.out
    assert "east-1" in printed.out
    assert "runs plugin RackSibling from rack-sibling 1.0.0" in printed.err


def test_the_example_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install_example(tmp_path, monkeypatch)
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(
        (EXAMPLE / "cluster.yaml").read_text(encoding="utf-8").replace("example.com/rack", "rack")
    )
    config = str(EXAMPLE / "config.yaml")
    assert main(["explain", str(cluster), "--pod", "shop/db-1", "--config", config]) == 0
    assert "node(s) stood in no rack" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["simulate"], ["explain", "--pod", "shop/db-1"]])
def test_a_plugin_that_is_not_installed(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(EXAMPLE / "cluster.yaml"), "--config", str(EXAMPLE / "config.yaml")]
    assert main([*command, *files]) == 1
    assert 'Plugin "RackSibling" does not exist' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("label: 7", "label must be the name of a node label"),
        ("labels: [x]", "RackSibling takes one argument, label"),
    ],
)
def test_wrong_arguments_of_the_example(
    written: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_example(tmp_path, monkeypatch)
    configuration = load_configuration(CONFIG.replace("label: example.com/rack", written))
    registry = load_plugins(configuration).registry
    with pytest.raises(ConfigError) as caught:
        simulate([], RunOptions(configuration=configuration, registry=registry))
    (problem,) = caught.value.problems
    assert problem.message == f'initializing plugin "RackSibling": {message}'


def test_the_tutorial_shows_what_the_example_has() -> None:
    tutorial = (EXAMPLE.parents[1] / "plugins-out-of-tree.md").read_text(encoding="utf-8")

    def blocks(language: str) -> list[str]:
        return re.findall(rf"^```{language}\n(.*?)^```$", tutorial, re.MULTILINE | re.DOTALL)

    assert blocks("yaml") == [CONFIG]
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (shown,) = blocks("toml")
    assert tomllib.loads(shown)["project"].items() <= project.items()
    for block in blocks("python"):
        compile(textwrap.dedent(block), "tutorial", "exec")


@pytest.mark.long
def test_the_commands_of_the_tutorial_work_as_written(tmp_path: Path) -> None:
    """In what looks like a checkout: an environment without pip, and uv."""
    root = EXAMPLE.parents[2]
    tutorial = (root / "docs/plugins-out-of-tree.md").read_text(encoding="utf-8")
    (tmp_path / ".uv/bin").mkdir(parents=True)
    (tmp_path / ".uv/bin/uv").symlink_to(shutil.which("uv") or root / ".uv/bin/uv")
    shutil.copytree(EXAMPLE, tmp_path / "docs/examples/rack-sibling")
    new = [str(tmp_path / ".uv/bin/uv"), "venv", "--quiet", "--python", sys.executable]
    subprocess.run([*new, tmp_path / ".venv"], check=True)
    (packages,) = (tmp_path / ".venv/lib").glob("*/site-packages")
    (packages / "kviz.pth").write_text(f"{sysconfig.get_path('purelib')}\n{root}\n")
    kviz = tmp_path / ".venv/bin/kviz"
    kviz.write_text('#!/bin/sh\nexec "$(dirname "$0")/python" -m kviz.cli "$@"\n')
    kviz.chmod(0o755)
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", tutorial, re.MULTILINE | re.DOTALL)
    shown = "".join(block for language, block in fenced if not language)
    lines = [line for line in shown.splitlines() if "serve" not in line]
    assert len(lines) == 5
    said = subprocess.run(
        ["/bin/sh", "-e"],
        input="\n".join(lines),
        cwd=tmp_path,
        env={**os.environ, "PATH": "/usr/bin:/bin", "UV_SYSTEM_CERTS": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    assert "runs plugin RackSibling from rack-sibling 1.0.0" in said.stderr
    assert "node(s) stood in no rack" in said.stdout


# ---------------------------------------------------------------- finding and refusing


def offer_sample(folder: Path, monkeypatch: pytest.MonkeyPatch, **plugins: str) -> None:
    offered = plugins or {"Sample": "sample_plugin:Sample"}
    modules = {"sample_plugin": PLUGIN}
    install(folder, monkeypatch, package="sample-plugins", plugins=offered, modules=modules)


def test_without_a_plugin_of_others_nothing_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer_sample(tmp_path, monkeypatch)
    loaded = load_plugins(default_configuration())
    assert list(loaded.registry) == list(in_tree_registry())
    assert loaded.out_of_tree == ()
    assert "sample_plugin" not in sys.modules


def test_what_is_loaded_says_where_it_is_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = {"Sample": "sample_plugin:Sample", "Other": "sample_plugin:Other"}
    offer_sample(tmp_path, monkeypatch, **both)
    loaded = load_plugins(enabling("Sample", "Other"))
    assert loaded.out_of_tree == (
        OutOfTreePlugin("Other", "sample-plugins", "1.0.0"),
        OutOfTreePlugin("Sample", "sample-plugins", "1.0.0"),
    )
    assert str(loaded.out_of_tree[0]) == "Other from sample-plugins 1.0.0"
    assert {"Other", "Sample"} <= set(loaded.registry)
    assert [p.name for p in load_plugins(enabling("Sample")).out_of_tree] == ["Sample"]


def test_a_plugin_that_is_not_allowed_is_not_even_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer_sample(tmp_path, monkeypatch)
    ((field, message),) = problems(enabling("Sample"), allowed=["Other"])
    assert field == "profiles[0].plugins.filter.enabled[name=Sample]"
    assert message == (
        'plugin "Sample" is not part of kviz, and this server does not run it: '
        "its operator has to name it in KVIZ_ALLOW_PLUGINS"
    )
    assert "sample_plugin" not in sys.modules
    assert [p.name for p in load_plugins(enabling("Sample"), ["Sample"]).out_of_tree] == ["Sample"]


def test_a_plugin_that_nobody_offers_keeps_the_message_of_upstream() -> None:
    configuration = enabling("Missing")
    registry = load_plugins(configuration).registry
    with pytest.raises(ConfigError, match='FilterPlugin "Missing" does not exist'):
        simulate([], RunOptions(configuration=configuration, registry=registry))


def test_the_names_of_the_tree_cannot_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer_sample(tmp_path, monkeypatch, NodeName="sample_plugin:Sample")
    assert load_plugins(enabling("NodeName")).out_of_tree == ()
    assert "sample_plugin" not in sys.modules


def test_two_packages_that_offer_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer_sample(tmp_path, monkeypatch)
    second = tmp_path / "second"
    second.mkdir()
    install(second, monkeypatch, package="copycat", plugins={"Sample": "sample_plugin:Sample"})
    ((_, message),) = problems(enabling("Sample"))
    assert message == (
        'plugin "Sample" is offered more than once: Sample from copycat 1.0.0, '
        "Sample from sample-plugins 1.0.0"
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("sample_plugin:Nobody", "cannot load plugin Sample from sample-plugins 1.0.0: Attribute"),
        ("no_such_module:Sample", "cannot load plugin Sample from sample-plugins 1.0.0: ModuleNo"),
        ("sample_plugin:not_a_class", "plugin Sample from sample-plugins 1.0.0: sample_plugin:not"),
        ("sample_plugin:Other", "plugin Sample must say so in its attribute name, not Other"),
        ("builtins:dict", "plugin Sample has the method of no extension point"),
    ],
)
def test_a_package_that_does_not_keep_its_word(
    value: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer_sample(tmp_path, monkeypatch, Sample=value)
    ((_, told),) = problems(enabling("Sample"))
    assert told.startswith(message)


def test_every_problem_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer_sample(tmp_path, monkeypatch, Sample="sample_plugin:x", Other="sample_plugin:y")
    assert len(problems(enabling("Sample", "Other"))) == 2


def test_a_plugin_that_breaks_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = PLUGIN.replace("return SUCCESS", "return node.labels['rack']")
    install(
        tmp_path,
        monkeypatch,
        package="sample-plugins",
        plugins={"Sample": "sample_plugin:Sample"},
        modules={"sample_plugin": source},
    )
    config = tmp_path / "config.yaml"
    config.write_text(f"{HEAD}profiles:\n- plugins: {{filter: {{enabled: [{{name: Sample}}]}}}}\n")
    assert main(["simulate", str(EXAMPLE / "cluster.yaml"), "--config", str(config)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[-1] == (
        'kviz: plugin "Sample" failed at Filter for pod shop/db-1 on node east-1: '
        "KeyError: 'rack' (sample_plugin.py:10)"
    )


# ---------------------------------------------------------------- kviz's own


def test_a_plugin_of_kviz_needs_nobodys_leave() -> None:
    loaded = load_plugins(enabling_at("permit", "TeachingGang"), allowed=[])
    (plugin,) = loaded.out_of_tree
    assert (plugin.name, plugin.package, plugin.is_own) == ("TeachingGang", "kviz", True)
    assert "TeachingGang" in set(loaded.registry)


def test_a_name_of_kviz_cannot_be_taken_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer_sample(tmp_path, monkeypatch, TeachingGang="sample_plugin:Sample")
    ((_, message),) = problems(enabling_at("permit", "TeachingGang"))
    assert message.startswith('plugin "TeachingGang" is offered more than once: TeachingGang from ')
    assert "sample_plugin" not in sys.modules


def test_the_command_line_says_that_a_plugin_is_of_kviz(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        f"{HEAD}profiles:\n- plugins: {{permit: {{enabled: [{{name: TeachingGang}}]}}}}\n"
    )
    assert main(["simulate", str(EXAMPLE / "cluster.yaml"), "--config", str(config)]) == 0
    assert "kviz's own for teaching: no kube-scheduler has it" in capsys.readouterr().err


# ---------------------------------------------------------------- the list


def test_the_list_names_all_that_may_be_enabled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offer_sample(tmp_path, monkeypatch)
    assert main(["plugins", "--json"]) == 0
    listed = {plugin["name"]: plugin for plugin in json.loads(capsys.readouterr().out)}
    assert set(in_tree_registry()) <= set(listed)
    assert listed["TaintToleration"] == {
        "name": "TaintToleration",
        "package": "kube-scheduler",
        "version": f"v{LATEST.name}",
        "default": True,
        "weight": 3,
        "points": ["Filter", "PreScore", "Score"],
    }
    own = listed["TeachingGang"]
    assert (own["package"], own["default"]) == ("kviz", False)
    assert own["points"] == ["PostFilter", "Reserve", "Permit"]
    assert listed["Sample"]["points"] is None
    assert "sample_plugin" not in sys.modules


def test_the_list_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["PLUGIN", "FROM", "WEIGHT", "EXTENSION", "POINTS"]
    assert lines[-1].split()[:2] == ["TeachingGang", "kviz"]
