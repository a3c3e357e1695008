"""A class from its opening to its end: what each of them can do, and what they see."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest
from django.utils import timezone

from kviz.classroom import guessing, services
from kviz.classroom.codes import LENGTH, LETTERS, code_typed, draw_code
from kviz.classroom.guessing import OF_BROWSER
from kviz.classroom.models import Participant, Room
from kviz.classroom.selectors import scores
from tests.classroom.people import ASKS, RIGHT, WRONG, Browser, Lesson, open_lesson, work
from tests.web.cast import Person, person


def test_a_code_is_read_however_it_is_typed() -> None:
    code = draw_code()
    assert len(code) == LENGTH
    assert code_typed(f" {code[:3].lower()}-{code[3:].lower()} ") == code
    assert [code_typed(text) for text in ("", "ABC", "ABCDEI", "ABCDEFG", "ABCD1F")] == [""] * 5
    assert not set("ILOSV10") & set(LETTERS)


def test_who_has_the_code_comes_in_without_an_account(lesson: Lesson) -> None:
    browser = Browser(lesson.room.code)
    typed = f"{browser.code[:3].lower()} {browser.code[3:]}"
    found = browser.client.post("/class/join", {"code": typed})
    assert found.headers["Location"] == f"/class/{browser.code}/"
    door = browser.get().content.decode()
    assert "Come in" in door
    assert 'data-code="' not in door
    browser.client.post(f"/class/{browser.code}/join", {"name": "  Lin   Wei "})
    assert lesson.room.participants.get().name == "Lin Wei"
    assert 'data-audience="class"' in browser.get().content.decode()


def test_a_reload_takes_no_second_seat(lesson: Lesson, mina: Browser) -> None:
    mina.client.post(f"/class/{mina.code}/join", {"name": "Mina"})
    assert lesson.room.participants.count() == 1


def test_a_vote_is_put_answered_changed_closed_and_revealed(lesson: Lesson, mina: Browser) -> None:
    lesson.lead("go", step=ASKS)
    assert not lesson.seen["question"]
    lesson.lead("ask")
    vote = lesson.vote
    assert mina.answer(vote, WRONG).status_code == 200
    assert mina.answer(vote, str(RIGHT)).json()["given"] == RIGHT
    lesson.lead("close-vote")
    assert mina.answer(vote, WRONG).status_code == 409
    assert lesson.seen["question"]["answer"] is None
    lesson.lead("reveal")
    asked = lesson.seen["question"]
    assert (asked["answer"], asked["answer_text"], asked["is_open"]) == (1, "1 of 3", False)
    assert asked["votes"][0]["counts"] == [{"text": "1 of 3", "n": 1, "right": True}]
    assert lesson.seen["picture"]["cycle"] == 1


def test_the_gain_between_two_votes_is_shown(lesson: Lesson, mina: Browser, noah: Browser) -> None:
    late = lesson.enter()
    lesson.lead("go", step=ASKS)
    lesson.lead("ask")
    mina.answer(lesson.vote, WRONG)
    noah.answer(lesson.vote, RIGHT)
    lesson.lead("close-vote")
    lesson.lead("ask")
    assert all(vote["counts"] is None for vote in lesson.seen["question"]["votes"])
    mina.answer(lesson.vote, RIGHT)
    noah.answer(lesson.vote, RIGHT)
    late.answer(lesson.vote, RIGHT)
    lesson.lead("reveal")
    assert lesson.seen["question"]["gain"] == {
        "n": 2, "right_before": 1, "right_after": 2, "became_right": 1, "became_wrong": 0,
    }  # fmt: skip


def test_the_teacher_asks_something_else_on_the_spot(lesson: Lesson, mina: Browser) -> None:
    """The step's own question is as it was afterwards."""
    lesson.lead("go", step=ASKS)
    picture = lesson.seen["picture"]
    more = {"question": "Where would you put it?", "options": ["busy", "quiet", ""]}
    lesson.lead("ask-own", **more)
    asked = lesson.seen["question"]
    assert (asked["is_own"], asked["ask"], len(asked["options"])) == (True, more["question"], 2)
    assert lesson.seen["picture"] == picture
    assert mina.answer(asked["vote"], "quiet").status_code == 200
    lesson.lead("reveal")
    asked = lesson.seen["question"]
    assert (asked["is_shown"], asked["answer"]) == (True, None)
    assert [row["right"] for row in asked["votes"][0]["counts"]] == [None, None]
    assert lesson.seen["picture"] == picture
    lesson.lead("ask-own", question="How many pods wait?", asks_for="number", right="4")
    mina.answer(lesson.vote, 4)
    assert lesson.seen["question"]["answer"] is None
    lesson.lead("reveal")
    assert lesson.seen["question"]["answer"] == 4
    assert dict(scores(lesson.room)) == {lesson.room.participants.get(): 1}
    lesson.lead("leave-own")
    assert lesson.seen["question"] is None
    lesson.lead("ask")
    question: Any = lesson.seen["question"]
    assert not question["is_own"]


def test_a_question_that_cannot_be_answered_is_not_put(lesson: Lesson) -> None:
    for more in (
        {"question": " ", "asks_for": "number"},
        {"question": "Which?", "options": ["one", "one"]},
        {"question": "Which?", "options": ["one", "two"], "right": "three"},
        {"question": "How many?", "asks_for": "number", "right": "some"},
    ):
        assert lesson.teacher.say("ask-own", **more).status_code == 409
    assert lesson.seen["question"] is None


def test_at_a_second_try_everybody_hears_what_was_wrong_and_nobody_else_does(
    lesson: Lesson, mina: Browser, noah: Browser
) -> None:
    lesson.lead("go", step=ASKS)
    lesson.lead("ask")
    mina.answer(lesson.vote, 3)
    noah.answer(lesson.vote, RIGHT)
    lesson.lead("second-try")
    assert lesson.seen["question"]["wrong"] == []
    hints = [each.mine()["before"] for each in (mina, noah)]
    assert [each["right"] for each in hints] == [False, True]
    assert "crowded" in hints[0]["says"]
    assert hints[1]["says"] == ""
    lesson.lead("reveal")
    assert [each["given"] for each in lesson.seen["question"]["wrong"]] == [2, 3]


def test_the_last_answer_counts_and_speed_does_not(
    lesson: Lesson, mina: Browser, noah: Browser
) -> None:
    lesson.lead("go", step=ASKS)
    lesson.lead("ask")
    noah.answer(lesson.vote, WRONG)
    mina.answer(lesson.vote, RIGHT)
    noah.answer(lesson.vote, RIGHT)
    assert [n for _, n in scores(lesson.room)] == [0, 0]
    lesson.lead("reveal")
    assert {seat.name: n for seat, n in scores(lesson.room)} == {"Mina": 1, "Noah": 1}
    assert lesson.seen["leaders"] == []
    lesson.lead("score", on=True)
    assert [leader["score"] for leader in lesson.seen["leaders"]] == [1, 1]


def test_a_frozen_class_keeps_what_it_saw(lesson: Lesson) -> None:
    lesson.lead("freeze", on=True)
    lesson.lead("go", step=3)
    held = lesson.seen
    assert (held["number"], held["is_held"]) == (1, True)
    lesson.lead("black", on=True)
    assert lesson.seen["is_black"]
    lesson.lead("freeze", on=False)
    assert (lesson.seen["number"], lesson.seen["is_held"]) == (3, False)


def test_what_is_drawn_is_there_until_it_is_wiped_off_or_left(lesson: Lesson) -> None:
    lesson.lead("draw", kind="circle", points=[[100, 100], [150, 100]])
    lesson.lead("draw", kind="pen", points=[[1, 1], [2, 2], [3, 3]])
    assert [mark["kind"] for mark in lesson.seen["marks"]] == ["circle", "pen"]
    lesson.lead("wipe")
    assert lesson.seen["marks"] == []
    lesson.lead("draw", kind="pen", points=[[1, 1], [2, 2]])
    lesson.lead("go", step=2)
    assert lesson.seen["marks"] == []
    assert lesson.teacher.say("draw", points=[[1, 1001]]).status_code == 400


def test_the_moment_may_be_any_of_the_run(lesson: Lesson) -> None:
    lesson.lead("go", step=ASKS)
    lesson.lead("reveal")
    lesson.lead("show", query="c=1&p=PreFilter&n=busy")
    seen = lesson.seen
    assert (seen["cycle"], seen["query"]) == (1, "c=1&p=PreFilter&n=busy")
    assert {node["state"] for node in seen["picture"]["nodes"]} == {""}
    lesson.lead("show", query="c=1")
    chosen = [node["name"] for node in seen["picture"]["nodes"] if node["state"] == "chosen"]
    assert chosen == []
    states = {node["name"]: node["state"] for node in lesson.seen["picture"]["nodes"]}
    assert states == {"busy": "chosen", "crowded": "rejected", "quiet": "rejected"}


def test_answers_leave_as_a_table(lesson: Lesson, mina: Browser) -> None:
    lesson.lead("go", step=ASKS)
    lesson.lead("ask")
    mina.answer(lesson.vote, RIGHT)
    url = f"/api/v1/classes/{lesson.room.pk}/answers.csv"
    before = b"".join(lesson.teacher.client.get(url)).decode().split("\r\n")
    assert before[1] == "2,1,1,Mina,1,,,,On how many of the three nodes does default/web fit?"
    lesson.lead("reveal")
    assert b"2,1,1,Mina,1,yes" in b"".join(lesson.teacher.client.get(url))
    assert mina.client.get(url).status_code == 404


def test_at_the_end_names_are_gone_and_the_run_is_closed(lesson: Lesson, mina: Browser) -> None:
    explore = lesson.seen["explore"]
    assert mina.client.get(explore).status_code == 200
    lesson.lead("end")
    room = Room.objects.get(pk=lesson.room.pk)
    assert room.closed_at is not None
    assert list(room.participants.values_list("name", flat=True)) == [""]
    assert mina.client.get(explore).status_code == 410
    assert mina.get().status_code == 404
    assert mina.answer(1, 1).status_code == 404


def test_a_class_ends_by_itself(lesson: Lesson, mina: Browser) -> None:
    assert lesson.room.closes_at - lesson.room.opened_at <= dt.timedelta(hours=4, seconds=5)
    Room.objects.update(closes_at=timezone.now() - dt.timedelta(seconds=1))
    assert mina.get().status_code == 404
    services.classes_begin()
    assert Room.objects.get().closed_at is not None
    assert Participant.objects.get().name == ""


def test_a_class_about_any_run_asks_for_the_next_node(db: None) -> None:
    ada: Person = person()
    run = ada.finished()
    browser = Browser("")
    session = browser.client.session
    session["workspace"] = str(ada.workspace.pk)
    session.save()
    action = f"/class/open/run/{run.pk}"
    assert f'action="{action}"' in browser.client.get(f"/runs/{run.pk}").content.decode()
    opened = browser.client.post(action, {"cycle": "1"})
    browser.code = opened.headers["Location"].split("/")[2]
    work()
    lesson = Lesson(browser)
    room = lesson.room
    assert room.run is not None
    assert (room.run.cycles, room.run.pk == run.pk) == (1, False)
    mina = lesson.enter("Mina")
    lesson.lead("ask")
    values = [option["value"] for option in lesson.seen["question"]["options"]]
    assert values == ["north", "south", "no node"]
    mina.answer(lesson.vote, "north")
    lesson.lead("reveal")
    known = run.cycle_rows.get(number=2).node
    assert lesson.seen["question"]["answer"] == known
    assert lesson.seen["cycle"] == 2


def test_codes_are_not_found_by_trying(lesson: Lesson, mina: Browser) -> None:
    eve = Browser(lesson.room.code)
    for _ in range(OF_BROWSER + 1):
        assert eve.client.get("/class/AAAAAA/").status_code == 404
    assert eve.client.get("/class/AAAAAA/").status_code == 429
    assert eve.get().status_code == 429
    assert eve.say("end").status_code == 429
    assert lesson.room.closed_at is None
    # The class behind the same address goes on, and who types the code there gets in.
    lesson.lead("go", step=ASKS)
    lesson.lead("ask")
    assert mina.answer(lesson.vote, 1).status_code == 200
    assert mina.get().status_code == lesson.teacher.get("lead").status_code == 200
    assert Browser(lesson.room.code).get().status_code == 200


def test_who_has_no_cookies_is_counted_by_the_address(
    lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guessing, "OF_ADDRESS", 5)
    for _ in range(5):
        assert Browser("AAAAAA").get().status_code == 404
    assert Browser("AAAAAA").get().status_code == 429
    assert Browser(lesson.room.code).get().status_code == 429


def test_the_link_in_the_qr_code_opens_the_door_whatever_was_typed(
    lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = f"?{guessing.KEY}={guessing.key_of(lesson.room)}"
    monkeypatch.setattr(guessing, "OF_ADDRESS", 0)
    late = Browser(lesson.room.code)
    assert late.get().status_code == late.get(f"{link[:-1]}").status_code == 429
    other = open_lesson()
    assert Browser(other.room.code).get(link).status_code == 429
    door = late.get(link).content.decode()
    (join,) = re.findall(r'action="(/class/[^"]+/join[^"]*)"', door)
    late.client.post(join, {"name": "Lin"})
    assert 'data-audience="class"' in late.get().content.decode()


def test_only_the_teacher_leads(lesson: Lesson, mina: Browser) -> None:
    before = lesson.seen
    for what in ("go", "ask", "reveal", "end", "freeze", "hand", "draw", "black"):
        assert mina.say(what, step=2).status_code == 403, what
        assert Browser(lesson.room.code).say(what, step=2).status_code == 403, what
    assert lesson.seen == before
    for path in ("lead", "screen"):
        assert mina.get(path).status_code == 404
    assert mina.client.post(f"/class/{mina.code}/end").status_code == 404


def test_nobody_answers_for_somebody_else(lesson: Lesson, mina: Browser) -> None:
    lesson.lead("go", step=ASKS)
    lesson.lead("ask")
    assert Browser(lesson.room.code).answer(lesson.vote, 1).status_code == 403
    other = open_lesson()
    other.lead("go", step=ASKS)
    other.lead("ask")
    assert mina.answer(other.vote, 1).status_code == 409  # the vote of another class
    assert other.room.votes.get().answers.count() == 0


def test_the_pages_carry_how_to_get_in(lesson: Lesson) -> None:
    desk = lesson.teacher.get("lead").content.decode()
    assert f"testserver/class/{lesson.room.code}/" in desk
    assert '<svg class="qr"' in desk or "qr" in desk.split("<svg", 2)[-1]
    assert lesson.teacher.get("screen").status_code == 200


def test_foreign_pages_say_nothing(lesson: Lesson) -> None:
    lesson.teacher.client.handler.enforce_csrf_checks = True
    assert lesson.teacher.say("end").status_code == 403
    assert lesson.room.closed_at is None


def test_pages_lead_to_a_class(lesson: Lesson, mina: Browser) -> None:
    for path in ("/teach", "/class/"):
        assert "/class/" in mina.client.get(path).content.decode()
    detail = lesson.teacher.client.get("/learn/requests").content.decode()
    assert 'action="/class/open/lesson/requests"' in detail


def test_the_explorer_has_the_class_beside_it(lesson: Lesson, mina: Browser) -> None:
    page = mina.client.get(lesson.seen["explore"]).content.decode()
    assert f'data-class="{lesson.room.code}"' in page
    assert "Come back to the teacher" in page
