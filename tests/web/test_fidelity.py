"""The fidelity page: what is compared, what is not modelled, and the decisions behind it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import kviz
from kviz.reference.fidelity import differences, report
from scheduler_core.config.features import NOT_MODELLED
from scheduler_core.releases import RELEASES
from scheduler_core.releases.bugs import BUGS
from tests.web.cast import Person

SPREAD_NOTHING = """
kind: Node
apiVersion: v1
metadata: {name: n, labels: {kubernetes.io/hostname: n}}
status: {allocatable: {cpu: "1", pods: "10"}}
---
kind: Pod
apiVersion: v1
metadata: {name: p, namespace: default}
spec:
  containers: [{name: c}]
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {}
"""


def test_the_readme_has_the_figures_of_every_release() -> None:
    readme = (Path(kviz.__file__).parents[1] / "README.md").read_text()
    found = report()
    assert found is not None
    assert [name for name, _ in found.releases] == list(RELEASES)
    for name, each in found.releases:
        assert f"| kube-scheduler v{name} | {each.cases} | {each.identical} |" in readme


def test_what_is_not_modelled_stands_in_the_table(owner: Person) -> None:
    html = owner.client.get("/about/fidelity").content.decode()
    (table,) = re.findall(r'aria-labelledby="by-plugin"><table>(.*?)</table>', html, re.DOTALL)
    for gate, reason in NOT_MODELLED.items():
        assert f"Gate {gate}" in table
        assert reason.replace("'", "&#x27;") in table
    assert table.count("not modelled") == len(NOT_MODELLED)
    assert "nothing to compare" in table


def test_every_release_has_its_count(owner: Person) -> None:
    html = owner.client.get("/about/fidelity").content.decode()
    for release in RELEASES:
        assert f"from kube-scheduler v{release}" in html


def test_every_difference_links_its_decision(owner: Person) -> None:
    html = owner.client.get("/about/fidelity").content.decode()
    for difference in differences():
        assert f'href="/docs/adr/{difference.adr}"' in html
        assert owner.client.get(f"/docs/adr/{difference.adr}").status_code == 200


def test_every_page_names_the_releases_of_the_tables(owner: Person) -> None:
    names = ", ".join(f"v{name}" for name in RELEASES)
    html = owner.client.get("/about/fidelity").content.decode()
    assert f"kviz runs kube-scheduler {names} semantics" in html


def test_every_bug_of_the_scheduler_stands_with_its_number(owner: Person) -> None:
    html = unescape(owner.client.get("/about/fidelity").content.decode())
    for name, bug in BUGS.items():
        assert f'id="bug-{name}"' in html
        assert bug.happens in html
        assert bug.instead in html
        assert bug.upstream in html


def test_a_bug_is_told_of_the_pod_it_decides_about(owner: Person) -> None:
    run = owner.finished(SPREAD_NOTHING)
    html = unescape(owner.client.get(f"/runs/{run.pk}/pods/default/p/why").content.decode())
    happens = BUGS["empty_spread_selector"].happens
    assert f"topologySpreadConstraints[0]: {happens}" in html
    evidence = owner.client.get(f"/api/v1/runs/{run.pk}/cycles/1/evidence/").json()
    assert [each["name"] for each in evidence["bugs"]] == ["empty_spread_selector"]
