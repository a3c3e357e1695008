"""`--change` on the command line, in all its forms, and what the run file says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kviz.cli import main
from kviz.run_file import Inputs, read_records
from scheduler_core.api.packing import unpack
from scheduler_core.changes import Rules, apply, changed_rules, read_changes
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.codec import TraceWriter
from tests.simulate.test_run_options import CLUSTER

SMALLER = "pod/shop/first set spec.resources.requests.cpu=500m"


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    return str(file)


def simulated(
    capsys: pytest.CaptureFixture[str], cluster: str, *changes: str, more: tuple[str, ...] = ()
) -> Mapping[str, object]:
    options = [f"--change={change}" for change in changes]
    assert main(["simulate", cluster, *options, *more, "--format", "json"]) == 0
    found: Mapping[str, object] = json.loads(capsys.readouterr().out)
    return found


def nodes(found: Mapping[str, object]) -> dict[str, str]:
    cycles = found["cycles"]
    assert isinstance(cycles, list)
    return {cycle["pod"]: cycle["node"] for cycle in cycles}


def test_what_is_not_known_of_a_change_is_noted_first(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", cluster, f"--change={SMALLER}", "--change=node/a cordon"]) == 0
    notes = capsys.readouterr().err.splitlines()
    assert [line for line in notes if "quotas" in line] == notes[-1:]
    assert notes[-1].startswith(f"kviz: note: {SMALLER}: whether quotas")


def test_changes_of_objects_and_of_rules(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = simulated(
        capsys, cluster, SMALLER, "node/a cordon", "node/b cordon", "queue-order name",
        "weight NodeResourcesFit=3", "seed 4",
    )  # fmt: skip
    assert nodes(found) == {"shop/first": "c", "shop/second": "c"}
    assert list(nodes(found)) == ["shop/first", "shop/second"]
    assert found["changes"] == [
        "pod shop/first: spec.resources.requests.cpu 9 → 500m",
        "cordon node a",
        "cordon node b",
        "queue order listed → name",
        "weight of NodeResourcesFit 1 → 3",
        "seed 0 → 4",
    ]


def test_a_file_of_changes_one_of_objects_and_a_configuration(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes, objects, config = (tmp_path / name for name in ("c.yaml", "o.yaml", "s.yaml"))
    changes.write_text(f"- {SMALLER}\n- cordon: a\n")
    objects.write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: d}\n"
        "status: {allocatable: {cpu: '64', pods: '10', memory: 8Gi}}\n"
    )
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {score: {disabled: [{name: '*'}],"
        " enabled: [{name: NodeResourcesFit}]}}}]\n"
    )
    found = simulated(capsys, cluster, str(changes), str(objects), f"config {config}")
    assert nodes(found) == {"shop/first": "d", "shop/second": "d"}
    assert found["changes"] == [
        "pod shop/first: spec.resources.requests.cpu 9 → 500m",
        "cordon node a",
        "create node d",
        "schedule with another configuration",
    ]
    assert simulated(capsys, cluster, str(changes), str(objects), str(config)) == found


def test_the_table_lists_the_changes(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", cluster, "--change=node/a cordon"]) == 0
    assert "\nchanged: cordon node a\n" in capsys.readouterr().out


def test_explain_takes_changes(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["explain", cluster, "--pod=shop/first", f"--change={SMALLER}", "--format=json"]
    assert main(asked) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "schedulable"


def test_the_run_file_has_the_inputs_as_they_were_and_the_changes(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.kviz"
    changes = (SMALLER, "node/b copies 2", "queue-order name", "gate VolumeLimitScaling=true")
    found = simulated(capsys, cluster, *changes, more=("--trace", str(file)))
    with file.open("rb") as saved:
        made_of, *_ = read_records(saved)
    assert isinstance(made_of, Inputs)
    assert (made_of.queue_order, made_of.feature_gates) == ("listed", {})
    written = read_changes([json.loads(each.change) for each in made_of.changes])
    rules = changed_rules(Rules(), written)
    options = RunOptions(
        configuration=rules.load(), features=rules.features(), queue_order=rules.queue_order
    )
    writer = TraceWriter()
    for event in simulate(apply(list(unpack(made_of.objects)), written), options):
        writer.add(event)
    writer.cut()
    assert writer.trace_hash() == found["traceHash"]


def test_no_change_and_one_undone_give_the_same_trace(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = simulated(capsys, cluster)["traceHash"]
    undone = simulated(capsys, cluster, "node/a cordon", "node/a uncordon")["traceHash"]
    assert undone == usual
    assert simulated(capsys, cluster, "node/a cordon")["traceHash"] != usual


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        ("node/x cordon", 1, "cordon node x: there is none"),
        ("pod/shop/first set spec.containers[3].image=x", 1, "is not there; there are 1: c"),
        ("node/a cordn", 2, "expected one of cordon"),
        ("nowhere.yaml", 2, "neither a change (docs/changes.md) nor a file"),
        ("config nowhere.yaml", 1, "nowhere.yaml: No such file"),
        ("weight NodeName=3", 2, "no profile scores with NodeName; enabled are DynamicResources"),
        ("weight Nope=3", 2, "no profile scores with Nope"),
        ('{"config": "kind: x"}', 1, "--change config: "),
    ],
)
def test_what_is_wrong_is_told_with_an_exit_code(
    change: str, code: int, text: str, cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["simulate"], ["explain"], ["whatif", "--pod=shop/first"]):
        assert main([*command, cluster, f"--change={change}"]) == code
        assert text in capsys.readouterr().err


def test_changes_in_the_middle_of_a_run(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until then the run is the same; the run file says when the changes were made."""
    plain = simulated(capsys, cluster)
    assert (plain["forkAt"], plain["changes"]) == (0, [])
    trace = str(tmp_path / "out.kviz")
    more = ("--fork-at", "2", "--trace", trace)
    cordons = [f"node/{name} cordon" for name in "abc"]
    forked = simulated(capsys, cluster, *cordons, more=more)
    assert (forked["forkAt"], forked["changes"]) == (2, [f"cordon node {name}" for name in "abc"])
    cycles, others = plain["cycles"], forked["cycles"]
    assert isinstance(cycles, list)
    assert isinstance(others, list)
    assert others[0] == cycles[0]
    assert "3 node(s) were unschedulable" in others[1]["message"]
    with open(trace, "rb") as file:
        inputs = next(each for each in read_records(file) if isinstance(each, Inputs))
    assert [each.cycle for each in inputs.changes] == [2, 2, 2]

    assert main(["simulate", cluster, f"--change={cordons[0]}", "--fork-at=2"]) == 0
    assert "changed: at cycle 2: cordon node a" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (["--change=seed 4", "--fork-at=2"], 2, "holds from the beginning of a run"),
        (["--change=node/a cordon", "--fork-at=99"], 1, "nothing was changed"),
    ],
)
def test_changes_that_cannot_be_made_in_the_middle(
    cluster: str, capsys: pytest.CaptureFixture[str], options: list[str], code: int, text: str
) -> None:
    assert main(["simulate", cluster, *options]) == code
    assert text in capsys.readouterr().err


def test_a_change_in_json_may_be_longer_than_the_name_of_a_file(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    version = "apiVersion: kubescheduler.config.k8s.io/v1"
    config = f"{version}\nkind: KubeSchedulerConfiguration\n# {'long ' * 100}\n"
    simulated(capsys, cluster, json.dumps({"config": config}))
