"""The formal model of a cycle over REST and as a page: the samples, value by value."""

from __future__ import annotations

import html
from typing import Any

import pytest

from kviz.runs.models import Run
from kviz.runs.reading import held_cycles
from kviz.samples import FOLDER
from tests.analysis.model.tla_parsing import problems_in
from tests.web.cast import CLUSTER, Person, problem


def sample(person: Person, slug: str) -> Run:
    return person.finished((FOLDER / f"{slug}.yaml").read_text())


def model(person: Person, run: Run, cycle: int, query: str = "") -> Any:
    answer = person.get(f"/runs/{run.pk}/cycles/{cycle}/model/{query}")
    assert answer.status_code == 200, answer.content[:500]
    return answer.json()


def flagged(document: Any) -> list[str]:
    return [each["rule"] for each in document["partings"] if each["flagged"]]


def module(person: Person, run: Run, cycle: int) -> str:
    answer = person.get(f"/runs/{run.pk}/cycles/{cycle}/model/tla/")
    assert answer.status_code == 200
    assert f'filename="Cycle{cycle}.tla"' in answer.headers["Content-Disposition"]
    text: str = answer.content.decode()
    assert f"\\* Kubernetes v{run.release_text}." in text.splitlines()
    assert text.startswith("-" * 34)
    assert f" MODULE Cycle{cycle} " in text
    return text


def test_six_gpu_nodes_cycle_8(ada: Person) -> None:
    run = sample(ada, "gpu-pool")
    found, recorded = model(ada, run, 8), ada.get(f"/runs/{run.pk}/cycles/8/").json()
    places = found["places"]
    sizes = [places[each]["n"] for each in ("possible", "feasible", "viable")]
    assert sizes == [15, 9, 3]
    assert sizes == [
        recorded["n_nodes"],
        recorded["n_feasible"],
        recorded["selection"]["n_tied"],
    ]
    assert places["chosen"] == "cpu-8"
    assert set(places["viable"]["members"]) < set(places["feasible"]["members"])
    assert set(places["feasible"]["members"]) < set(places["possible"]["members"])
    assert (found["viability"]["best"], found["viability"]["runner_up"]) == (452, 443)
    assert found["loop"] == {
        "scheduling_enabled": True,
        "preemption_enabled": True,
        "branch": "Scheduling",
        "taken": "Scheduling",
    }
    assert found["after"]["model_node"] == found["after"]["node"] == "cpu-8"
    assert flagged(found) == ["heapRoot"]
    assert found["statement"].startswith("9 of 15 nodes are feasible, 3 of these viable.")
    text = module(ada, run, 8)
    assert problems_in(text) == []
    assert "/\\ Cardinality(Viable) = 3" in text


def test_preemption_and_a_budget(ada: Person) -> None:
    run = sample(ada, "preemption-budget")
    first, second = model(ada, run, 1), model(ada, run, 2)
    assert first["places"]["feasible"]["n"] == 0
    assert first["loop"]["scheduling_enabled"] is False
    assert (first["loop"]["branch"], first["loop"]["taken"]) == ("Preemption", "Preemption")
    preemption = first["preemption"]
    assert preemption["preemptable"] == ["node-1", "node-2", "node-3", "node-4", "node-5"]
    assert [len(each["jeopardy"]) for each in preemption["nodes"]] == [1, 1, 2, 2, 2, 0]
    chosen = {"node": "node-5", "pods": ["batch/render-1"]}
    assert preemption["chosen"] == chosen
    assert preemption["least"] == [chosen]
    assert first["after"]["model_gone"] == first["after"]["gone"] == ["batch/render-1"]
    assert not any(each["missed"] for each in preemption["nodes"])
    assert second["decided"]["pod"] == "payments/refunds-0"
    assert (second["loop"]["branch"], second["loop"]["taken"]) == ("Preemption", "UNCHANGED")
    assert "preemptionPolicy" in flagged(second)
    assert "preemptionPolicy=Never" in second["partings"][0]["text"]
    for cycle in (1, 2):
        assert problems_in(module(ada, run, cycle)) == []


def test_casualty(ada: Person) -> None:
    run = sample(ada, "casualty")
    found = model(ada, run, 1)
    (node,) = found["preemption"]["nodes"]
    assert (node["n_feasible"], node["n_subsets"]) == (5, 8)
    assert found["preemption"]["chosen"] == {"node": "n1", "pods": ["default/b", "default/c"]}
    later = model(ada, run, run.cycles)
    assert later["places"]["chosen"] == "n1"
    assert later["viability"] is None
    assert not later["places"]["viability_evaluated"]


def test_a_node_by_name(ada: Person) -> None:
    run = sample(ada, "gpu-pool")
    found = model(ada, run, 8, "?node=gpu-1")["feasibility"]
    assert (found["node"], found["holds"]) == ("gpu-1", False)
    failing = [each["plugin"] for each in found["conjuncts"] if not each["holds"]]
    assert failing
    problem(ada.get(f"/runs/{run.pk}/cycles/8/model/?node=nowhere"), 404)


def test_the_page_has_words_first_and_formulas_for_who_asks(owner: Person) -> None:
    run = sample(owner, "gpu-pool")
    path = f"/runs/{run.pk}/cycles/8/model"
    plain = owner.client.get(path).content.decode()
    assert "9 of 15 nodes are feasible, 3 of these viable." in plain
    assert "452 against 443." in plain
    assert 'data-notation="on"' not in plain
    asked = owner.client.get(f"{path}?notation=on")
    assert 'data-notation="on"' in asked.content.decode()
    assert '<p role="math">' in asked.content.decode()
    assert 'data-notation="on"' in owner.client.get(path).content.decode()
    owner.client.get(f"{path}?notation=off")
    assert 'data-notation="on"' not in owner.client.get(path).content.decode()
    assert owner.client.get(f"{path}?n=nowhere").status_code == 404
    assert owner.client.get(f"/runs/{run.pk}/cycles/999/model").status_code == 404


def test_the_piece_for_the_explorer_carries_the_sets_for_the_map(ada: Person) -> None:
    run = sample(ada, "preemption-budget")
    answer = ada.get(f"/runs/{run.pk}/cycles/1/model/html/")
    assert answer.headers["Content-Type"].startswith("text/html")
    text = html.unescape(answer.content.decode())
    assert '"Preemptable":["node-1","node-2","node-3","node-4","node-5"]' in text
    assert "chosen by the scheduler" in text
    assert "<html" not in text


def test_what_cannot_be_re_enacted_is_said(owner: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    run = owner.finished(CLUSTER)
    monkeypatch.setattr(held_cycles, "max_cycle", lambda n_nodes: 0)
    found = model(owner, run, 1)
    assert found["cluster"] is None
    assert "the limit for 2 nodes is cycle 0" in found["unknown"]
    assert found["places"]["feasible"]["n"] == 2
    assert found["loop"]["branch"] == "Scheduling"
    problem(owner.get(f"/runs/{run.pk}/cycles/1/model/tla/"), 409)
    page = owner.client.get(f"/runs/{run.pk}/cycles/1/model").content.decode()
    assert "the values behind it are not known" in page
