"""An export of kube-scheduler-simulator in the browser: uploaded, run, compared."""

from __future__ import annotations

import json
from html import unescape

from django.core.files.uploadedfile import SimpleUploadedFile

from kviz.runs.models import Run
from kviz.snapshots.models import Snapshot
from tests.api.test_simulator_export import JSON, export
from tests.web.cast import Person


def uploaded(ada: Person, data: bytes = JSON) -> Snapshot:
    files = {"files": SimpleUploadedFile("export.json", data)}
    answer = ada.client.post("/snapshots/new", files)
    assert answer.status_code == 302
    return Snapshot.objects.get(pk=answer["Location"].rpartition("/")[2])


def test_its_results_stand_beside_kvizs(ada: Person) -> None:
    snapshot = uploaded(ada)
    assert f"/runs/beside/{snapshot.pk}" in ada.client.get(f"/snapshots/{snapshot.pk}").text
    page = unescape(ada.client.get(f"/runs/beside/{snapshot.pk}").text)
    assert "It wrote results on 3 pods, 3 are shown." in page
    assert "With the configuration of the export." in page
    assert "NodeResourcesFit: Insufficient cpu" in page
    assert "0/2 nodes are available: 2 Insufficient cpu" in page
    assert "private" not in page


def test_runs_begin_with_the_configuration_of_the_export(ada: Person) -> None:
    snapshot = uploaded(ada)
    form = unescape(ada.client.get(f"/runs/new?snapshot={snapshot.pk}").text)
    assert '"schedulerName": "default-scheduler"' in form
    page = unescape(ada.client.get(f"/snapshots/{snapshot.pk}").text)
    assert 'name="scheduler_config"' in page
    config = page.split('name="scheduler_config" value="')[1].split('">')[0]
    ada.client.post("/runs/new", {"snapshot": str(snapshot.pk), "scheduler_config": config})
    assert Run.objects.get(snapshot=snapshot).scheduler_config == config


def test_a_cluster_of_others_and_one_without_results_have_no_such_page(ada: Person) -> None:
    of_ada = ada.upload(("export.json", JSON)).json()["id"]  # with her token; browsers are local
    assert ada.client.get(f"/runs/beside/{of_ada}").status_code == 404
    text = json.dumps(export(pods=[])).encode()
    assert ada.client.get(f"/runs/beside/{uploaded(ada, text).pk}").status_code == 404


def test_a_configuration_that_kviz_refuses_is_said(ada: Person) -> None:
    wrong = export(schedulerConfig={"profiles": [{"plugins": {"score": 3}}]})
    snapshot = uploaded(ada, json.dumps(wrong).encode())
    page = ada.client.get(f"/runs/beside/{snapshot.pk}").text
    assert "notice--warn" in page
    assert "<table>" not in page
