"""Two stored runs compared: over REST, and on a page."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.test import Client

from kviz.runs.models import Run
from kviz.runs.sharing import run_share
from tests.web.cast import CLUSTER, NODES, Person, execute, pod, problem

PACKED = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins:
    score: {disabled: [{name: NodeResourcesBalancedAllocation}]}
"""
ONE = NODES + pod("web")


@pytest.fixture
def two(owner: Person) -> tuple[Run, Run]:
    """The default profile, and one that packs."""
    return owner.finished(ONE), owner.finished(ONE, scheduler_config=PACKED)


def page(client: Client, a: Run, b: Run, status: int = 200) -> str:
    response = client.get(f"/runs/compare?a={a.pk}&b={b.pk}")
    assert response.status_code == status
    return response.content.decode()


def in_order(text: str, parts: Sequence[str]) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


# ---------------------------------------------------------------- REST


def test_where_two_runs_part(owner: Person, two: tuple[Run, Run]) -> None:
    a, b = two
    document = owner.get(f"/runs/{a.pk}/compare/{b.pk}/").json()

    first = document["first_divergence"]
    assert document["identical"] is False
    assert (first["cycle"], first["pod"], first["point"]) == (1, "shop/web", "Score")
    assert first["plugin"] == "NodeResourcesFit"
    assert [(each["pod"], each["a"], each["b"]) for each in document["moved"]] == [
        ("shop/web", "north", "south")
    ]
    assert document["sentence"].startswith("The runs diverge in cycle 1, at shop/web")


def test_arguments_of_a_plugin_are_named_as_the_cause(owner: Person, two: tuple[Run, Run]) -> None:
    a, b = two
    first = owner.get(f"/runs/{a.pk}/compare/{b.pk}/").json()["first_divergence"]

    cause = (
        "default-scheduler NodeResourcesFit scoringStrategy.type: LeastAllocated in A, "
        "MostAllocated in B"
    )
    assert cause in first["causes"]
    assert not any("BalancedAllocation" in each for each in first["causes"])
    assert cause in page(owner.client, a, b)


def test_the_only_change_of_a_variant_is_the_cause(owner: Person) -> None:
    a = owner.finished(ONE)
    variant = owner.post("/runs/", {"parent": str(a.pk), "changes": ["node/north cordon"]})
    b = execute(worker="compare")
    assert str(b.pk) == variant.json()["id"]
    document = owner.get(f"/runs/{a.pk}/compare/{b.pk}/").json()

    assert document["changes"] == ["cordon node north"]
    assert document["first_divergence"]["causes"] == ["cordon node north"]
    assert "One run was made of the other" in page(owner.client, a, b)


def test_a_run_and_itself(owner: Person, two: tuple[Run, Run]) -> None:
    document = owner.get(f"/runs/{two[0].pk}/compare/{two[0].pk}/").json()

    assert document["identical"] is True
    assert document["first_divergence"] is None


def test_a_run_that_goes_on_cannot_be_compared_yet(owner: Person) -> None:
    over, queued = owner.finished(CLUSTER), owner.queued(CLUSTER)

    problem(owner.get(f"/runs/{over.pk}/compare/{queued.pk}/"), 409)
    problem(owner.get(f"/runs/{queued.pk}/compare/{over.pk}/"), 409)
    assert "Waiting for a worker" in page(owner.client, over, queued)


def test_a_live_session_cannot_be_compared(owner: Person) -> None:
    a, b = owner.finished(CLUSTER), owner.finished(CLUSTER)
    Run.objects.filter(pk=b.pk).update(kind=Run.Kind.OBSERVED)

    problem(owner.get(f"/runs/{a.pk}/compare/{b.pk}/"), 409)


def test_both_runs_must_be_ones_own(ada: Person, ben: Person) -> None:
    adas, bens = ada.finished(CLUSTER), ben.finished(CLUSTER)

    for a, b in ((adas, bens), (bens, adas), (adas, adas)):
        problem(ben.get(f"/runs/{a.pk}/compare/{b.pk}/"), 404)
    share = run_share(run=adas).token
    assert ben.get(f"/runs/{bens.pk}/compare/{adas.pk}/?share={share}").status_code == 200


# ---------------------------------------------------------------- the page


def test_the_page_leads_with_the_sentence(owner: Person, two: tuple[Run, Run]) -> None:
    a, b = two
    html = page(owner.client, a, b)

    parts = ("<h1>", 'id="moved"', "Resources at the end", "First difference")
    assert "The runs diverge in cycle" in html
    assert in_order(html, parts)
    for run in two:
        address = f"/runs/{run.pk}/explore?c=1&amp;p=Score&amp;g=NodeResourcesFit&amp;n="
        assert address in html
    assert f"/runs/compare?a={b.pk}&amp;b={a.pk}" in html


def test_the_two_maps_know_what_to_read(owner: Person, ada: Person, two: tuple[Run, Run]) -> None:
    a, b = two
    html = page(owner.client, a, b)

    assert 'id="two-maps"' in html
    assert 'data-parting-a="1" data-parting-b="1"' in html
    assert f"/runs/{b.pk}/explore?c=CYCLE&quot;" in html
    share = run_share(run=a).token
    shared = ada.client.get(f"/runs/compare?a={a.pk}&b={a.pk}&share={share}").content.decode()
    assert f"explore?c=CYCLE&amp;share={share}" in shared
    assert "data-parting" not in shared


def test_identical_runs_have_no_tables(owner: Person, two: tuple[Run, Run]) -> None:
    html = page(owner.client, two[0], two[0])

    assert "The runs are identical" in html
    assert "First difference" not in html
    assert 'id="moved"' not in html


def test_runs_are_chosen_from_the_workspace(owner: Person, ada: Person) -> None:
    mine, hers, running = owner.finished(CLUSTER), ada.finished(CLUSTER), owner.queued(CLUSTER)
    html = owner.client.get("/runs/compare").content.decode()

    assert f'value="{mine.pk}"' in html
    assert f'value="{running.pk}"' not in html
    assert f'value="{hers.pk}"' not in html


def test_a_page_over_what_is_not_ones_own(owner: Person, ada: Person) -> None:
    mine, hers = owner.finished(CLUSTER), ada.finished(CLUSTER)

    page(owner.client, mine, hers, status=404)
    assert owner.client.get("/runs/compare?a=nonsense").status_code == 404


def test_a_run_offers_the_one_before(owner: Person) -> None:
    first = owner.finished(ONE)
    second = owner.finished(ONE)
    Run.objects.filter(pk=second.pk).update(snapshot=first.snapshot)

    html = owner.client.get(f"/runs/{second.pk}").content.decode()
    assert f"/runs/compare?a={first.pk}&amp;b={second.pk}" in html
    assert f"/runs/compare?b={first.pk}" in owner.client.get(f"/runs/{first.pk}").content.decode()
