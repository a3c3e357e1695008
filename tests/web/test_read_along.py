"""Pages beside texts: what comes with kviz is right, rows lead somewhere, the form opens it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.test import Client
from django.utils.translation import override
from pytest_django import Settings

from kviz.cli import main
from kviz.companion import pages
from kviz.companion.checking import check_reading
from kviz.companion.library import shelf
from kviz.companion.pages_named import link
from kviz.companion.reading import BUNDLED, read_reading
from kviz.lessons.library import library
from kviz.reference.form import prose_of
from kviz.runs.models import Run
from tests.web.cast import Person

FILES = sorted(BUNDLED.glob("*.yaml"))

OWN = """\
title: A talk
about: What it said.
speaks_of: Kubernetes 1.18
language: English
figures: 1
clusters:
  two:
    title: Two nodes
    objects: |
      apiVersion: v1
      kind: Node
      metadata: {name: small}
      status: {allocatable: {cpu: "1", memory: 4Gi, pods: "110"}}
      ---
      apiVersion: v1
      kind: Node
      metadata: {name: large}
      status: {allocatable: {cpu: "4", memory: 4Gi, pods: "110"}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web, namespace: default}
      spec: {containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
rows:
  - figure: 1
    about: Filter
    kind: same
    now: Filter rejects nodes.
    at:
      cluster: two
      cycle: 1
      point: Filter
      shows: [{cycle: 1, value: node, equals: large}]
    see: [{glossary: filter}]
"""


@pytest.mark.slow("every run that a page opens is simulated")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_place_shows_what_its_row_promises(file: Path) -> None:
    text = file.read_text()
    reading = read_reading(text)
    checked = check_reading(reading, text)
    assert [str(each) for each in checked.problems] == []
    for row in reading.rows:
        assert not row.at or (row.at.shows and row.at.words), row.about


@pytest.mark.slow("it opens every page that a row names")
@pytest.mark.django_db
def test_every_page_that_a_row_names_has_the_anchor(client: Client) -> None:
    wanted: dict[str, set[str]] = {}
    for reading in shelf().readings.values():
        for row in reading.rows:
            for see in row.see:
                address, _, anchor = link(see, library())[1].partition("#")
                wanted.setdefault(address, set()).update({anchor} - {""})
    for address, anchors in wanted.items():
        answer = client.get(address)
        assert answer.status_code == 200, address
        missing = anchors - set(re.findall(r'id="([^"]+)"', answer.content.decode()))
        assert not missing, address


@pytest.mark.parametrize("language", ["zh-hans", "zh-hant"])
def test_the_pages_are_chinese(language: str) -> None:
    with override(language):
        for reading in pages.readings().values():
            for text in prose_of(reading):
                assert re.search("[\u4e00-\u9fff]", text) or " " not in text, text


@pytest.mark.slow("the first page of a process, and a cluster that is read")
def test_a_row_opens_its_run_and_the_next_one_the_same(ada: Person) -> None:
    page = ada.client.get("/learn/read/preemption").content.decode()
    assert "preemption/2/open" in page
    first = ada.client.post("/learn/read/preemption/2/open")
    assert first.status_code == 302
    run = Run.objects.get()
    assert first["Location"].startswith(f"/runs/{run.pk}/explore?c=1&tab=why")
    again = ada.client.post("/learn/read/preemption/2/open")
    assert again["Location"] == first["Location"]
    assert Run.objects.count() == 1
    assert ada.client.post("/learn/read/preemption/3/open").status_code == 404
    assert ada.client.get("/learn/read/nothing").status_code == 404


def test_a_page_of_ones_own_is_listed_and_opened(
    ada: Person, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "reading").mkdir()
    (tmp_path / "reading" / "talk.yaml").write_text(OWN)
    (tmp_path / "reading" / "broken.yaml").write_text("rows: []\n")
    settings.LESSONS_DIR = str(tmp_path)
    listed = ada.client.get("/learn/read/").content.decode()
    assert "A talk" in listed
    assert "broken.yaml" in listed
    opened = ada.client.post("/learn/read/talk/1/open")
    run = Run.objects.get()
    assert opened["Location"] == f"/runs/{run.pk}/explore?c=1&p=Filter"
    assert run.name == "Two nodes"


@pytest.mark.parametrize(
    ("line", "instead", "says"),
    [
        ("equals: large", "equals: small", "the engine says 'large'"),
        ("cycle: 1\n      point", "cycle: 7\n      point", "no cycle 7"),
        ("point: Filter", "point: Score", "cycle 1 does not come to Score"),
        ("cluster: two", "cluster: three", 'no cluster "three"'),
        ("cluster: two", "sample: three", 'no sample "three"'),
        ("cluster: two", "lesson: three", 'no lesson "three"'),
        ("glossary: filter", "glossary: filtre", 'there is no "filtre"'),
        ("glossary: filter", "plugin: Fit", 'there is no "Fit"'),
        ("figures: 1", "figures: 2", "no row has figure 2"),
        ("kind: same", "kind: sane", "Invalid enum value"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, instead: str, says: str
) -> None:
    file = tmp_path / "talk.yaml"
    file.write_text(OWN)
    assert main(["lesson", "check", str(file), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["lessons"]
    assert (found["moments"], found["answers"]) == (1, 1)
    assert OWN.count(line) >= 1
    file.write_text(OWN.replace(line, instead, 1))
    assert main(["lesson", "check", str(file)]) == 1
    assert says in capsys.readouterr().out
