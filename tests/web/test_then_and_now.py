"""Words of older books lead to what is there today."""

from __future__ import annotations

import pytest
from django.test import Client

from kviz.common.glossary import glossary
from kviz.common.plugin_guide import guide_of
from kviz.common.then_and_now import old_words_in, table
from kviz.common.then_and_now.classic import messages_then, names_then
from kviz.runs.services import run_share
from tests.web.cast import NODES, Person, pod


def test_every_row_leads_somewhere() -> None:
    rows = table().rows
    assert len({row.id for row in rows}) == len(rows)
    assert {row.group for row in rows} == {group.id for group in table().groups}
    for row in rows:
        assert all(guide_of(plugin) for plugin in row.plugins), row
        assert all(term in glossary().terms for term in row.terms), row


def test_a_name_is_found_as_a_whole_word_only() -> None:
    assert [row.id for row in old_words_in("PodFitsResources failed")] == ["PodFitsResources"]
    assert not old_words_in("MyPodFitsResources2")
    assert [row.id for row in old_words_in("先预选再打分")] == ["predicates"]


@pytest.mark.django_db
def test_looking_a_word_up(client: Client) -> None:
    found = client.get("/then-and-now/", {"q": "selectorspread"}).content.decode()
    assert 'id="SelectorSpreadPriority"' in found
    assert "/plugins/PodTopologySpread" in found
    assert 'id="policy"' not in found
    nothing = client.get("/then-and-now/", {"q": "<b>"}).content.decode()
    assert "No old word has “&lt;b&gt;” in it" in nothing


@pytest.mark.django_db
def test_the_explorer_gets_all_of_them(client: Client) -> None:
    words = client.get("/then-and-now/words.json").json()["words"]
    assert len(words) == len(table().rows)
    assert {"then", "now", "href", "group", "was", "plugins", "terms"} == set(words[0])
    [fits] = [each for each in words if each["then"] == ["PodFitsResources"]]
    assert (fits["was"], fits["plugins"]) == ("predicate", ["NodeResourcesFit"])


def test_names_are_those_of_the_point_and_all_from_the_table() -> None:
    assert names_then("NodeResourcesFit", "Filter")[0] == "PodFitsResources"
    assert names_then("NodeResourcesFit", "Score")[0] == "LeastRequestedPriority"
    assert names_then("NodeResourcesFit", "Bind") == ()
    assert messages_then("NodeAffinity") == ("node(s) didn't match node selector",)


def test_yesterdays_names_stand_beside_todays_once_they_are_wanted(owner: Person) -> None:
    run = owner.finished(NODES + pod("p", "64"))
    why, explorer = f"/runs/{run.pk}/pods/shop/p/why", f"/runs/{run.pk}/explore"
    assert "PodFitsResources" not in owner.client.get(why).content.decode()
    assert "data-classic" not in owner.client.get(explorer).content.decode()

    assert owner.client.post("/then-and-now/classic", {"classic": "on"}).status_code == 302
    assert "then: PodFitsResources" in owner.client.get(why).content.decode()
    assert 'data-classic="on"' in owner.client.get(explorer).content.decode()
    assert "PodFitsResources" in owner.client.get(explorer, {"view": "tables"}).content.decode()
    assert "PodFitsResources" not in owner.client.get(why, {"classic": "off"}).content.decode()

    owner.client.post("/then-and-now/classic", {"classic": "off"})
    assert "PodFitsResources" not in owner.client.get(why).content.decode()
    assert "PodFitsResources" in owner.client.get(why, {"classic": "on"}).content.decode()


def test_an_old_message_is_decoded(ada: Person) -> None:
    run = ada.finished(NODES + pod("p", "64"))
    address = f"/runs/{run.pk}/pods/shop/p/why"
    share = run_share(run=run)
    pasted = "0/1 nodes are available: 1 node(s) didn't match node selector."
    page = ada.client.get(address, {"message": pasted, "share": share}).content.decode()
    assert "Old words in it" in page
    assert "/then-and-now/#message-selector" in page
    assert "Old words in it" not in ada.client.get(address, {"share": share}).content.decode()
