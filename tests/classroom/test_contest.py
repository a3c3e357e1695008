"""Pods that a class places by hand: who is sent what, and when; who is shown; what is kept."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from kviz.by_hand.models import Game
from kviz.classroom.documents import screen_document, teacher_document
from kviz.questions.optimum.jobs import optimum_claim, optimum_execute
from kviz.runs.models import Optimum, Run, ShareLink
from kviz.snapshots.models import Snapshot
from kviz.snapshots.services import samples_load
from tests.classroom.people import Browser, Lesson, open_lesson, work
from tests.waiting import PATIENCE_S
from tests.web.test_live import socket

LAST = 4
"""The lesson's last step: everything is revealed."""
SMALL, LARGE = "default/small", "default/large"
BEST = ((LARGE, "n1"), (SMALL, "n2"))


def open_contest() -> Lesson:
    """A class that is opened from a game somebody plays alone."""
    samples_load()
    snapshot = Snapshot.objects.get(is_sample=True, name="size-trap")
    browser = Browser("")
    alone = browser.client.post(f"/by-hand/snapshot/{snapshot.pk}").headers["Location"]
    opened = browser.client.post(f"/class/open{alone}")
    browser.code = opened.headers["Location"].split("/")[2]
    work()
    return Lesson(browser)


def board(who: Browser, pod: str = "") -> Any:
    return who.client.get(f"/api/v1/classes/{who.code}/board/", {"pod": pod})


def do(who: Browser, what: str, **more: str) -> Any:
    url = f"/api/v1/classes/{who.code}/board/"
    body = json.dumps({"do": what, **more})
    return who.client.post(url, body, content_type="application/json")


def place(who: Browser, *moves: tuple[str, str]) -> Any:
    for pod, node in moves:
        assert do(who, "place", pod=pod, node=node).status_code == 200
    done = do(who, "finish")
    assert done.status_code == 200
    return done.json()


def know() -> None:
    """Let workers do what is revealed."""
    work()
    while (found := optimum_claim(worker="w")) is not None:
        optimum_execute(found=found, worker="w")


@pytest.fixture
def contest(db: None) -> Lesson:
    return open_contest()


def test_everybody_has_a_board_of_the_same_cluster(contest: Lesson) -> None:
    mina, noah = contest.enter("Mina"), contest.enter()
    do(mina, "place", pod=SMALL, node="n1")
    assert [board(who).json()["n_moves"] for who in (mina, noah)] == [1, 0]
    assert board(mina, LARGE).json()["nodes"]["n1"]["plugin"] == "NodeResourcesFit"
    assert board(noah, LARGE).json()["nodes"]["n1"] is None
    assert Game.objects.filter(is_for_class=True).count() == 1


def test_what_the_scheduler_did_is_known_only_when_the_teacher_shows_it(contest: Lesson) -> None:
    mina, noah = contest.enter("Mina"), contest.enter("Noah")
    done = place(mina, *BEST)
    assert (done["outcome"], done["verdict"], done["mine"]["placed"]) == (None, "", {"0": 2})
    assert {each["best"] for each in done["pods"]} == {None}
    seen = contest.seen["contest"]
    assert (seen["is_revealed"], seen["outcome"], seen["leaders"]) == (False, None, [])
    game = Game.objects.get(is_for_class=True)
    assert (game.run.cycles, Optimum.objects.count()) == (0, 0)
    contest.lead("play-reveal")
    contest.seen  # noqa: B018  (whoever looks has the best searched for)
    know()
    outcome = contest.seen["contest"]["outcome"]
    assert outcome["scheduler"]["placed"] == {"0": 1}
    assert (outcome["best"]["state"], outcome["best"]["side"]["placed"]) == ("proven", {"0": 2})
    assert board(mina).json()["verdict"].startswith("You beat the scheduler, and no placement")
    assert do(noah, "place", pod=SMALL, node="n1").status_code == 409
    assert board(noah).json()["mine"] is None


def test_no_way_around_the_teacher_leads_to_the_outcome(contest: Lesson) -> None:
    mina = contest.enter("Mina")
    place(mina, *BEST)
    game = Game.objects.get(is_for_class=True)
    token = ShareLink.objects.get(run=contest.room.run).token
    runs = f"/api/v1/runs/{game.run_id}"
    for who in (mina, contest.teacher):
        assert who.client.get(f"/by-hand/{game.pk}").status_code == 404
        assert who.client.get(f"/api/v1/by-hand/{game.pk}/").status_code == 404
    assert mina.client.get(f"{runs}/").status_code == 404
    assert mina.client.get(f"{runs}/cycles/1/?share={token}").status_code == 409
    before = Game.objects.count()
    assert mina.client.post(f"/by-hand/run/{game.run_id}?share={token}").status_code == 302
    assert Game.objects.count() == before
    know()
    assert Run.objects.get(pk=game.run_id).cycles == 0


def test_the_teacher_sees_how_far_all_are_and_how_it_is_spread(contest: Lesson) -> None:
    mina, noah, lin = (contest.enter(name) for name in ("Mina", "Noah", "Lin"))
    place(mina, *BEST)
    place(noah, (SMALL, "n1"))
    do(lin, "place", pod=SMALL, node="n1")
    teacher: Any = teacher_document(contest.room)["teacher"]
    found = teacher["contest"]
    assert (found["n_begun"], found["n_done"], found["done"]) == (3, 2, [1, 2])
    assert [(each["placed"], each["n"]) for each in found["spread"]] == [(2, 1), (1, 1)]
    assert screen_document(contest.room)["contest_counts"] == {"n_begun": 3, "n_done": 2}


def test_one_placement_is_shown_and_a_ranking_only_if_the_teacher_wants_it(contest: Lesson) -> None:
    mina, noah = contest.enter("Mina"), contest.enter()
    place(noah, (SMALL, "n1"))
    place(mina, *BEST)
    assert contest.teacher.say("play-show", seat=1).status_code == 409
    contest.lead("play-reveal")
    seen = contest.seen["contest"]
    assert seen["shown"] is None
    contest.lead("play-show", seat=1)
    shown = contest.seen["contest"]["shown"]
    assert (shown["name"], shown["side"]["placement"]) == ("Mina", dict(BEST))
    assert contest.teacher.say("play-show", seat=9).status_code == 409
    assert contest.seen["contest"]["leaders"] == []
    contest.lead("score", on=True)
    leaders = contest.seen["contest"]["leaders"]
    assert [(each["number"], each["placed"]) for each in leaders] == [(1, 2), (2, 1)]


def test_placements_leave_with_the_answers(contest: Lesson) -> None:
    place(contest.enter("Mina"), *BEST)
    url = f"/api/v1/classes/{contest.room.pk}/answers.csv"

    def rows() -> list[str]:
        return b"".join(contest.teacher.client.get(url)).decode().split("\r\n")

    assert rows()[0] == "step,vote,participant,name,answer,right,placed,worth,question"
    assert rows()[1].startswith("0,by hand,1,Mina,default/large=n1 default/small=n2,,2,")
    assert len(rows()) == 3
    contest.lead("play-reveal")
    contest.seen  # noqa: B018  (whoever looks has the best searched for)
    know()
    assert rows()[2].startswith("0,by hand,,kube-scheduler,default/small=n1,,1,")
    assert rows()[3].startswith('0,by hand,,"best, proven",')


def test_a_frozen_class_keeps_its_boards(contest: Lesson) -> None:
    mina = contest.enter("Mina")
    assert do(mina, "place", pod=SMALL, node="n1").status_code == 200
    before = board(mina).json()
    contest.lead("freeze", on=True)
    for what in ("undo", "reset", "finish"):
        refused = do(mina, what)
        assert refused.status_code == 409
        assert "frozen" in refused.json()["detail"]
    contest.lead("play-reveal")
    know()
    assert board(mina).json() == before
    assert board(mina, LARGE).status_code == 200
    contest.lead("play-stop")
    assert board(mina).json() == before
    contest.lead("freeze", on=False)
    assert board(mina).status_code == 409


def test_what_was_shown_before_a_class_was_frozen_stays_shown(contest: Lesson) -> None:
    mina = contest.enter("Mina")
    place(mina, (SMALL, "n1"))
    contest.lead("play-reveal")
    know()
    contest.lead("freeze", on=True)
    assert board(mina).json()["outcome"]["scheduler"]
    assert do(mina, "undo").status_code == 409


def may_play(lesson: Lesson) -> bool:
    teacher: Any = teacher_document(lesson.room)["teacher"]
    return bool(teacher["may_play"])


def test_a_lesson_may_be_interrupted_and_goes_on(lesson: Lesson, mina: Browser) -> None:
    assert board(mina).status_code == 409
    lesson.lead("go", step=2)
    assert not may_play(lesson)
    assert lesson.teacher.say("play").status_code == 409  # it would show what later steps hide
    lesson.lead("go", step=LAST)
    assert may_play(lesson)
    lesson.lead("play")
    assert lesson.teacher.say("play").status_code == 409
    assert "default/web" in [each["name"] for each in board(mina).json()["pods"]]
    lesson.lead("play-stop")
    assert (lesson.seen["contest"], lesson.seen["number"]) == (None, LAST)
    assert board(mina).status_code == 409


def test_where_the_scheduler_evicts_to_place_more_nobody_is_asked_to_do_as_well(db: None) -> None:
    samples_load()
    for slug, may in (("preemption", False), ("regret", True)):
        assert open_lesson(slug).room.may_play == may


def test_the_projector_shows_what_is_to_be_placed_and_then_how_the_class_did(
    contest: Lesson,
) -> None:
    screen: Any = screen_document(contest.room)
    assert [pod["name"] for pod in screen["to_place"]["pods"]] == [SMALL, LARGE]
    place(contest.enter(), *BEST)
    assert contest.seen["contest"]["spread"] == []
    assert contest.seen["contest"]["asks"] == {SMALL: [], LARGE: []}
    contest.lead("play-reveal")
    assert screen_document(contest.room)["to_place"] is None
    assert [(row["placed"], row["n"]) for row in contest.seen["contest"]["spread"]] == [(2, 1)]


def test_only_the_teacher_leads_a_contest(contest: Lesson) -> None:
    mina = contest.enter("Mina")
    for what in ("play", "play-reveal", "play-show", "play-stop"):
        assert mina.say(what).status_code == 403, what
    assert not contest.seen["contest"]["is_revealed"]
    assert board(contest.teacher).status_code == 403


@pytest.mark.django_db(transaction=True)
async def test_frames_have_nothing_of_the_outcome_until_it_is_shown() -> None:
    contest = await sync_to_async(open_contest)()
    mina, noah = [await sync_to_async(contest.enter)(name) for name in ("Mina", "Noah")]
    seen: list[dict[str, Any]] = []

    async def until(line: Any, wanted: Any) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                message = await line.receive_output(timeout=PATIENCE_S)
                seen.append(json.loads(message["text"]))
                if seen[-1]["type"] == "state" and wanted(seen[-1]):
                    return

    async with socket(f"/ws/class/{noah.code}/?as=class", noah.headers) as line:
        await until(line, lambda frame: frame["contest"])
        await sync_to_async(place)(mina, *BEST)
        await sync_to_async(contest.lead)("black", on=True)
        await until(line, lambda frame: frame["is_black"])
        hidden = [frame for frame in seen if frame["type"] == "state"]
        assert all(frame["contest"]["outcome"] is None for frame in hidden)
        text = json.dumps(hidden)
        assert not any(word in text for word in ("Mina", "placement", "worth", "proven"))
        await sync_to_async(contest.lead)("play-reveal")
        await until(line, lambda frame: frame["contest"]["outcome"])
