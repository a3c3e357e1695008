"""The fidelity page: what is compared, what is not modelled, and the decisions behind it."""

from __future__ import annotations

import re

from kviz.reference.fidelity import differences
from scheduler_core.config.features import NOT_MODELLED
from scheduler_core.releases import RELEASES
from tests.web.cast import Person


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
