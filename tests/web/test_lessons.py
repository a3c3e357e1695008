"""Lessons on their pages and over REST: predicted, answered, revealed, tried."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from kviz.lessons import course
from kviz.lessons.library import library
from kviz.lessons.template import TEMPLATE
from kviz.runs.models import Run
from kviz.snapshots.services import samples_load
from tests.web.cast import Person, execute, problem

WHERE = "/lessons/mine"
NOTES = "Let them read the sizes first."


@pytest.fixture(autouse=True)
def _a_lesson(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "99-mine.yaml").write_text(TEMPLATE.replace("cycle: 1, point", "cycle: 1, point"))
    settings.LESSONS_DIR = str(tmp_path)


def begun(who: Person) -> dict[str, Any]:
    answer = who.post(f"{WHERE}/begin/", {})
    assert answer.status_code == 201, answer.content
    execute(worker="w")
    found: dict[str, Any] = answer.json()
    return found


def moved(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.django_db
def test_learners_are_not_sent_what_the_presenter_should_say(ada: Person) -> None:
    assert f"notes: {NOTES}" in TEMPLATE
    begun(ada)
    ada.client.post("/learn/mine/begin")
    for answer in (ada.get(f"{WHERE}/steps/1/"), ada.client.get("/learn/mine/1")):
        assert answer.status_code == 200
        assert NOTES not in answer.content.decode()


@pytest.mark.django_db
def test_a_lesson_from_its_first_step_to_its_last(ada: Person) -> None:
    first = begun(ada)
    assert (first["number"], first["n_steps"], first["question"]) == (1, 3, None)
    second = moved(ada.post(f"{WHERE}/steps/1/next/", {}))
    assert second["question"]["answered"] is None
    assert Run.objects.get(pk=first["run"]).cycles == 0

    right = moved(ada.post(f"{WHERE}/steps/2/answer/", {"answer": "large"}))
    assert right["question"]["answered"]["right"]
    assert right["at"] == {"cycle": 1, "query": "c=1&p=Filter&g=NodeResourcesFit"}
    execute(worker="w")
    assert Run.objects.get(pk=first["run"]).cycles == 1

    moved(ada.post(f"{WHERE}/steps/2/next/", {}))
    tried = moved(ada.post(f"{WHERE}/steps/3/try/", {"changes": "node/small cordon"}))
    assert tried["task"]["attempt"]["goals"] is None
    execute(worker="w")
    found = moved(ada.get(f"{WHERE}/steps/3/"))["task"]["attempt"]
    assert (found["met"], found["goals"][0]["instead"]) == (False, "default/web is on large")
    moved(ada.post(f"{WHERE}/steps/3/try/", {"changes": "node/large cordon"}))
    execute(worker="w")
    assert moved(ada.get(f"{WHERE}/steps/3/"))["task"]["attempt"]["met"]

    moved(ada.post(f"{WHERE}/steps/3/next/", {}))
    (entry,) = [e for e in moved(ada.get("/lessons/"))["lessons"] if e["lesson"] == "mine"]
    assert (entry["done"], entry["right"], entry["asked"]) == (True, 1, 1)


@pytest.mark.django_db
def test_only_the_first_answer_counts(ada: Person) -> None:
    begun(ada)
    ada.post(f"{WHERE}/steps/1/next/", {})
    assert problem(ada.post(f"{WHERE}/steps/2/answer/", {"answer": ""}), 400)
    wrong = moved(ada.post(f"{WHERE}/steps/2/answer/", {"answer": "small"}))
    assert not wrong["question"]["answered"]["right"]
    again = moved(ada.post(f"{WHERE}/steps/2/answer/", {"answer": "large"}))
    assert again["question"]["answered"]["given"] == "small"


@pytest.mark.django_db
def test_a_foreseen_wrong_answer_is_told_why_and_may_be_followed_by_another(
    owner: Person, tmp_path: Path
) -> None:
    more = "tries: 2\n      wrong: [{given: small, says: Compare the cores.}]\n      "
    lesson = TEMPLATE.replace("fact: {cycle: 1", more + "fact: {cycle: 1", 1)
    assert lesson != TEMPLATE
    (tmp_path / "99-mine.yaml").write_text(lesson)
    begun(owner)
    moved(owner.post(f"{WHERE}/steps/1/next/", {}))
    first = moved(owner.post(f"{WHERE}/steps/2/answer/", {"answer": "small"}))
    assert first["question"]["answered"] is None
    assert "Compare the cores." in first["question"]["tried"][0]["says"]
    assert not first["shown"]
    page = owner.client.get("/learn/mine/2").content.decode()
    assert "Compare the cores." in page
    assert "Try once more." in page
    last = moved(owner.post(f"{WHERE}/steps/2/answer/", {"answer": "large"}))
    assert last["question"]["answered"]["right"]
    assert owner.client.get("/learn/record?csv").content.decode().rstrip().endswith("yes,2")


@pytest.mark.django_db
def test_nothing_that_is_sent_before_an_answer_holds_it(ada: Person, owner: Person) -> None:
    sent = [json.dumps(begun(ada)), ada.post(f"{WHERE}/steps/1/next/", {}).content.decode()]
    sent.append(ada.get(f"{WHERE}/steps/2/").content.decode())
    sent.append(ada.get("/lessons/").content.decode())
    assert not [text for text in sent if "ones are left" in text or "rejects the other" in text]
    assert problem(ada.get(f"{WHERE}/steps/3/"), 409)["type"] == "urn:kviz:problem:veiled"
    assert problem(ada.post(f"{WHERE}/steps/3/try/", {"changes": "x"}), 409)
    assert "because" not in "".join(sent)


@pytest.mark.django_db
def test_a_step_is_of_whoever_began_it(ada: Person, ben: Person) -> None:
    begun(ada)
    problem(ben.get(f"{WHERE}/steps/1/"), 404)
    problem(ben.post("/lessons/none/begin/", {}), 404)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ("pod/default/web delete", "Only this may be changed"),
        ("node/small cordon\nnode/large cordon", "One change is allowed"),
        ("node/large fly", "fly"),
        (" ", "may not be blank"),
    ],
)
def test_what_a_task_does_not_allow(ada: Person, changes: str, says: str) -> None:
    begun(ada)
    for step in (1, 2):
        ada.post(f"{WHERE}/steps/{step}/next/", {})
    refused = problem(ada.post(f"{WHERE}/steps/3/try/", {"changes": changes}), 400)
    assert says in refused["errors"][0]["message"]


@pytest.mark.django_db
def test_the_pages_do_the_same_without_scripts(owner: Person) -> None:
    page = owner.client.get("/learn/mine").content.decode()
    assert "Two nodes, one pod" in page
    assert owner.client.get("/learn/mine/1").status_code == 302
    owner.client.post("/learn/mine/begin")
    execute(worker="w")
    owner.client.post("/learn/mine/1/next")
    page = owner.client.get("/learn/mine/2").content.decode()
    assert 'value="large"' in page
    assert "rejects the other" not in page
    refused = owner.client.post("/learn/mine/2/answer", {})
    assert (refused.status_code, "Choose a node." in refused.content.decode()) == (400, True)
    owner.client.post("/learn/mine/2/answer", {"answer": "small"})
    waits = owner.client.get("/learn/mine/2").content.decode()
    assert "data-waits" in waits
    execute(worker="w")
    page = owner.client.get("/learn/mine/2").content.decode()
    assert "Your answer: small" in page
    assert "rejects the other" in page
    assert "data-waits" not in page
    assert owner.client.get("/learn/mine/9")["Location"] == "/learn/mine/2"
    owner.client.post("/learn/mine/2/next")
    large = handle_called("cordoned", owner.client.get("/learn/mine/3").content.decode())
    owner.client.post("/learn/mine/3/try", {"handles": "1", large: "on"})
    execute(worker="w")
    page = owner.client.get("/learn/mine/3").content.decode()
    assert "It works" in page
    assert f'name="{large}" value="on" checked' in page  # the handle stays where it was put
    assert owner.client.post("/learn/mine/3/next")["Location"] == "/learn/mine/done"
    assert "0 of 1 right" in owner.client.get("/learn/").content.decode()


def handle_called(label: str, page: str) -> str:
    """The name of the last field of a handle with this label."""
    return str(re.findall(rf'name="(h\d+)"[^>]*>\s*<span class="handle__name">{label}<', page)[-1])


@pytest.mark.django_db
def test_an_order_is_given_by_places(owner: Person) -> None:
    samples_load()
    owner.client.post("/learn/scores/begin")
    execute(worker="w")
    items = ["Score", "Filter", "Bind", "PreFilter", "Reserve"]
    twice = {"item": items, "place": ["1", "1", "2", "3", "4"]}
    assert owner.client.post("/learn/scores/1/answer", twice).status_code == 400
    ranked = {"item": items, "place": ["3", "2", "5", "1", "4"]}
    owner.client.post("/learn/scores/1/answer", ranked)
    assert "Right" in owner.client.get("/learn/scores/1").content.decode()


@pytest.mark.django_db
def test_beginning_again_forgets_the_way(ada: Person) -> None:
    first = begun(ada)
    ada.post(f"{WHERE}/steps/1/next/", {})
    assert moved(ada.get(f"{WHERE}/steps/2/"))["number"] == 2
    again = begun(ada)
    assert again["run"] != first["run"]
    problem(ada.get(f"{WHERE}/steps/2/"), 409)


@pytest.mark.django_db
def test_a_lesson_that_cannot_be_read_is_named_on_the_list(owner: Person, tmp_path: Path) -> None:
    (tmp_path / "98-bad.yaml").write_text("title: 3\n")
    library.cache_clear()
    page = owner.client.get("/learn/").content.decode()
    assert "98-bad.yaml" in page


SUPPOSED = """\
  - title: And if
    text: Suppose that nobody may enter the large one.
    question:
      {ask: Where then?, kind: node, answer: small,
       fact: {cycle: 1, value: node, after: [node/large cordon]}}

"""


@pytest.mark.django_db
def test_what_a_question_supposes_is_run_and_opened_beside_the_lessons_run(
    owner: Person, tmp_path: Path
) -> None:
    (tmp_path / "99-mine.yaml").write_text(
        TEMPLATE.replace("  - title: Try", SUPPOSED + "  - title: Try")
    )
    first = begun(owner)
    for number in (1, 2):
        moved(owner.post(f"{WHERE}/steps/{number}/next/", {}))
    execute(worker="w")
    assert Run.objects.count() == 1
    found = moved(owner.post(f"{WHERE}/steps/3/answer/", {"answer": "large"}))["question"][
        "answered"
    ]
    execute(worker="w")
    assert Run.objects.get(pk=found["other"]["run"]).changes
    page = owner.client.get("/learn/mine/3").content.decode()
    assert f"/runs/compare?a={first['run']}&amp;b={found['other']['run']}" in page
    assert "Your answer: large" in page
    owner.post(f"{WHERE}/steps/3/answer/", {"answer": "small"})
    assert Run.objects.count() == 2


@pytest.mark.django_db
def test_the_end_of_a_lesson_has_what_was_missed_to_try_again_and_the_record(owner: Person) -> None:
    begun(owner)
    moved(owner.post(f"{WHERE}/steps/1/next/", {}))
    moved(owner.post(f"{WHERE}/steps/2/answer/", {"answer": "small"}))
    for number in (2, 3):
        moved(owner.post(f"{WHERE}/steps/{number}/next/", {}))
    execute(worker="w")
    done = owner.client.get("/learn/mine/done").content.decode()
    assert "0 of 1 right" in done
    assert "/learn/mine/2?again=1" in done
    asked = owner.client.get("/learn/mine/2?again=1").content.decode()
    assert "rejects the other" not in asked
    again = owner.client.post("/learn/mine/2/answer", {"answer": "large", "again": "1"})
    assert "rejects the other" in again.content.decode()
    record = owner.client.get("/learn/record?csv").content.decode().splitlines()
    assert record[1].endswith("2,On which node will default/web run?,small,large,no,1")
    assert "On which node" in owner.client.get("/learn/record").content.decode()


@pytest.mark.django_db
def test_a_handout_asks_and_does_not_answer(owner: Person) -> None:
    page = owner.client.get("/learn/mine/handout").content.decode()
    assert "On which node will default/web run?" in page
    assert "rejects the other" not in page
    assert NOTES not in page


def test_every_lesson_that_comes_with_kviz_has_its_place_in_the_course() -> None:
    slugs = course.order()
    assert sorted(slugs) == sorted(each.slug for each in library().lessons)
    earlier = {slug: slugs[: slugs.index(slug)] for slug in slugs}
    assert all(known in earlier[slug] for slug, before in course.BEFORE.items() for known in before)
