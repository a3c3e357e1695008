"""How lucky a run's placements were, and rules checked on its cluster: pages and REST."""

from __future__ import annotations

import pytest
from django.test import Client

from kviz.questions.luck import services as finding
from kviz.runs.models import Run
from tests.web.cast import NODES, Person, person, pod, problem

RULES = "- bind: {pods: {namespace: shop}}\n- utilisation: {resource: cpu, below: 100%}\n"


@pytest.fixture
def run(ada: Person) -> Run:
    return ada.finished()


@pytest.mark.django_db
def test_luck_is_found_out_once_and_cached_with_the_run(ada: Person, run: Run) -> None:
    assert ada.get(f"/runs/{run.pk}/luck/").status_code == 404
    found = ada.post(f"/runs/{run.pk}/luck/", {})
    assert found.status_code == 201
    assert (found.json()["runs"], found.json()["placements"]["made"]) == (4, 4)
    assert ada.get(f"/runs/{run.pk}/luck/").json() == found.json()


@pytest.mark.django_db
def test_the_page_offers_it_and_then_says_what_held(owner: Person) -> None:
    run, browser = owner.finished(), Client()
    page = f"/runs/{run.pk}/luck"
    assert "random runs" in browser.get(page).content.decode()
    assert "What was luck here?" in browser.get(f"/runs/{run.pk}").content.decode()
    assert browser.post(page, follow=True).redirect_chain == [(page, 302)]
    text = browser.get(page).content.decode()
    assert "in all runs" in text or "several together" in text or "workers" in text


@pytest.mark.django_db
def test_a_large_cluster_is_left_to_the_command_line(
    ada: Person, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "MAX_WORK", 10)
    refused = ada.post(f"/runs/{run.pk}/luck/", {})
    assert refused.status_code == 400
    assert "kviz luck" in refused.json()["errors"][0]["message"]


@pytest.mark.django_db
def test_who_has_the_link_reads_and_does_not_ask(ada: Person, run: Run) -> None:
    token = ada.post(f"/runs/{run.pk}/share/", {}).json()["token"]
    stranger = Client()
    page = f"/runs/{run.pk}/luck"
    assert stranger.get(page).status_code == 404
    assert "Nobody has asked yet" in stranger.get(f"{page}?share={token}").content.decode()
    assert stranger.post(f"{page}?share={token}").status_code == 404


@pytest.mark.django_db
def test_rules_are_checked_over_rest(ada: Person, run: Run) -> None:
    for rules in (RULES, [{"bind": {"pods": {"namespace": "shop"}}}]):
        found = ada.post(f"/runs/{run.pk}/rules/", {"rules": rules}).json()
        assert (found["holds"], found["broken"]) == (False, 1)
        assert {each["pod"] for each in found["rules"][0]["values"]["not_bound"]} == {
            "shop/giant",
            "shop/gated",
        }
    bad = ada.post(f"/runs/{run.pk}/rules/", {"rules": "- bind: {}\n"})
    assert bad.status_code == 400
    (error,) = bad.json()["errors"]
    assert (error["field"], error["path"], error["line"]) == ("rules", "[0].bind.pods", 1)


@pytest.mark.django_db
def test_rules_are_checked_on_a_page(owner: Person) -> None:
    run, browser = owner.finished(), Client()
    page = f"/runs/{run.pk}/rules"
    assert "Rules, as YAML" in browser.get(page).content.decode()
    text = browser.post(page, {"rules": RULES}).content.decode()
    assert "1 of 2 rules is broken" in text
    assert "2 of 6 pods without a node" in text or "2 of 7 pods without a node" in text
    bad = browser.post(page, {"rules": "- bind: {}\n"})
    assert bad.status_code == 400
    assert "rules-line-1" in bad.content.decode()


@pytest.mark.django_db
def test_rules_that_take_too_many_runs_are_left_to_the_command_line(
    ada: Person, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kviz.questions.rules.read.MAX_WORK", 2_000)
    rules = "- survive: {pods: {}, lossOf: node}"
    refused = ada.post(f"/runs/{run.pk}/rules/", {"rules": rules})
    assert refused.status_code == 400
    assert "kviz check" in refused.json()["errors"][0]["message"]


@pytest.mark.django_db
def test_rules_are_checked_on_a_cluster_that_was_not_run(ada: Person) -> None:
    snapshot = ada.snapshot(NODES + pod("web", "2") + pod("big", "3"))
    rules = [{"name": "all bind", "bind": {"pods": {}}}]

    broken = ada.post(f"/snapshots/{snapshot.pk}/check/", {"rules": rules}).json()
    with_one_more = {"rules": rules, "changes": ["node/south copies 1"]}
    bad = ada.post(f"/snapshots/{snapshot.pk}/check/", {"rules": "- bind: {}\n"})

    assert (broken["holds"], broken["broken"], broken["changes"]) == (False, 1, [])
    kept = ada.post(f"/snapshots/{snapshot.pk}/check/", with_one_more).json()
    assert len(kept["changes"]) == 1
    assert problem(bad, 400)["errors"][0]["line"] == 1
    problem(person().post(f"/snapshots/{snapshot.pk}/check/", {"rules": rules}), 404)
    assert not ada.workspace.runs.exists()
