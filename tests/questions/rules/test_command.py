"""`kviz check`: the table, JSON, JUnit, and exit codes a CI job can rely on."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kviz.cli import main
from tests.cluster_text import node, pod

CLUSTER = node("a", "4", "4Gi", "10") + pod("web", "1", namespace="shop")
RULES = """\
- name: web binds
  bind: {pods: {namespace: shop}}
- name: cpu is left
  utilisation: {resource: cpu, below: 20%}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    cluster, rules = tmp_path / "cluster.yaml", tmp_path / "rules.yaml"
    cluster.write_text(CLUSTER)
    rules.write_text(RULES)
    return str(cluster), "--rules", str(rules)


def test_a_broken_rule_ends_with_1_and_says_what_it_rests_on(
    files: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.xml"
    assert main(["check", *files, "--junit", str(report)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("1 of 2 rules is broken\n")
    assert "25.0 % of cpu on 1 node; below 20 % is asked for" in out
    suite = ElementTree.parse(report).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    kept, broken = suite
    assert (kept.get("name"), kept.find("failure")) == ("web binds", None)
    failure = broken.find("failure")
    assert failure is not None
    assert '"requested": 1000' in (failure.text or "")


def test_a_report_has_values_that_are_sentences(
    files: tuple[str, str, str], tmp_path: Path
) -> None:
    cluster, option, rules = files
    loss = "{pods: {namespace: shop}, lossOf: node}"
    Path(rules).write_text(f"- name: web survives a node\n  survive: {loss}\n")
    report = tmp_path / "report.xml"
    assert main(["check", cluster, option, rules, "--junit", str(report)]) == 1
    failure = ElementTree.parse(report).find(".//failure")
    assert failure is not None
    [lost] = json.loads(failure.text or "")["not_survived"]
    assert lost["pods"] == [{"pod": "shop/web", "message": "bare pod, no controller"}]


def test_rules_that_a_change_keeps_end_with_0(
    files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *files, "--change", "node/a copies 1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["holds"], found["broken"], len(found["changes"])) == (True, 0, 1)
    assert [each["name"] for each in found["rules"]] == ["web binds", "cpu is left"]
    assert found["rules"][1]["values"]["share"] == 0.125


@pytest.mark.parametrize("what", ["rules", "no rules", "cluster", "change"])
def test_bad_input_ends_with_2(
    files: tuple[str, str, str],
    tmp_path: Path,
    what: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster, option, rules = files
    more = []
    if what == "rules":
        Path(rules).write_text("- bind: {pod: {}}\n")
    elif what == "no rules":
        rules = str(tmp_path / "none.yaml")
    elif what == "cluster":
        Path(cluster).write_text("nothing: here\n")
    else:
        more = ["--change", "node/b cordon"]
    assert main(["check", cluster, option, rules, *more]) == 2
    assert capsys.readouterr().err.startswith("kviz: ")
