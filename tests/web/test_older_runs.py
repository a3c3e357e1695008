"""Runs of an older kviz are computed again by an idle worker, and say so."""

from __future__ import annotations

from typing import Any

import pytest

from kviz.live.tasks import Worker, work_once
from kviz.runs.models import Run
from kviz.runs.reading import trace
from tests.web.cast import API, Person

pytestmark = pytest.mark.django_db
OLD = "0.1.0+k8s.1.36.7e65d0066ab9"


@pytest.fixture
def old(owner: Person) -> Run:
    """A run that an older kviz is said to have made."""
    run = owner.finished()
    Run.objects.filter(pk=run.pk).update(
        older="waiting", engine_version=OLD, not_modelled=["1 PodGroup"], trace_hash="0" * 64
    )
    run.refresh_from_db()
    return run


def idle() -> None:
    worker = Worker("idle")
    while work_once(worker) or Run.objects.filter(status="queued").exists():
        pass


def document(owner: Person, run: Run) -> Any:
    return owner.client.get(f"{API}/runs/{run.pk}/", headers=owner.headers).json()


def page(owner: Person, run: Run) -> str:
    return owner.client.get(f"/runs/{run.pk}").content.decode()


def test_one_that_decides_alike_takes_the_place_of_the_old(owner: Person, old: Run) -> None:
    assert document(owner, old)["made_by_older"]["state"] == "waiting"
    assert "computed again when no run is waiting" in page(owner, old)
    before = [chunk.headers for chunk in trace.chunks(run=old)]
    idle()
    assert Run.objects.count() == 1
    found = document(owner, old)
    assert found["made_by_older"] == {"state": "computed_again", "again": None, "because": ""}
    assert (found["not_modelled"], found["cycles"]) == ([], old.cycles)
    assert found["engine_version"] != OLD
    assert len(found["trace_hash"].strip("0")) > 50
    assert [chunk.headers for chunk in trace.chunks(run=old)] == before
    assert "Made by an older kviz; computed again." in page(owner, old)


def test_nobody_sees_it_before_it_is_compared(owner: Person, old: Run) -> None:
    work_once(Worker("idle"))
    again = Run.objects.get(again_of=old)
    listed = owner.client.get(f"{API}/runs/", headers=owner.headers).json()
    assert [each["id"] for each in listed] == [str(old.pk)]
    assert owner.client.get(f"/runs/{again.pk}").status_code == 404


def test_where_it_decides_otherwise_both_are_offered(owner: Person, old: Run) -> None:
    old.cycle_rows.filter(number=1).update(node="another")
    idle()
    again = Run.objects.get(again_of=old)
    assert document(owner, old)["made_by_older"]["again"] == str(again.pk)
    assert document(owner, old)["not_modelled"] == ["1 PodGroup"]
    assert f'href="/runs/{again.pk}"' in page(owner, old)
    assert f'href="/runs/{old.pk}"' in page(owner, again)
    assert document(owner, again)["made_by_older"] is None


def test_one_whose_plugin_is_gone_stays_as_it_is(owner: Person, old: Run) -> None:
    gone = {"name": "Mine", "package": "my-plugins", "version": "1.0"}
    Run.objects.filter(pk=old.pk).update(out_of_tree_plugins=[gone])
    idle()
    assert Run.objects.count() == 1
    assert document(owner, old)["made_by_older"]["state"] == "kept"
    shown = page(owner, old)
    assert "It cannot be computed again, so its sentences stay in English" in shown
    assert "plugin Mine" in shown
