"""A step with a task in front of a class: all read it, the teacher runs what they agree on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils import translation

from kviz.classroom.documents import teacher_document
from kviz.classroom.room_hub import DOCUMENTS
from kviz.runs.models import Run
from tests.classroom.people import Lesson, open_lesson, work

SLUG = "what-is-a-node"
POD = "default/exact"
TEXT = f"<p>Let <code>{POD}</code> run on a node, with one change of the pod.</p>\n"


@pytest.fixture
def at_task(db: None) -> Lesson:
    lesson = open_lesson(SLUG)
    lesson.lead("go", step=4)
    return lesson


def tried(lesson: Lesson) -> Any:
    return lesson.seen["task"]["tried"]


def cpu(amount: str) -> str:
    return f"pod/{POD} set spec.containers[0].resources.requests.cpu={amount}"


def test_everybody_reads_the_task_and_only_the_teacher_the_hint(at_task: Lesson) -> None:
    task = at_task.seen["task"]
    handles = [(each["label"], each["now"]) for each in task.pop("handles")]
    assert ("requests.cpu", "8") in handles
    assert task == {
        "text": TEXT,
        "at_most": 1,
        "of": ["pod/default/exact"],
        "tried": None,
    }
    for audience, read in DOCUMENTS.items():
        text = json.dumps(read(at_task.room))
        assert ("may be at most what a node has allocatable" in text) == (audience == "teacher")
        assert "requests.cpu=7" not in text  # the solution


def test_a_step_without_a_task_has_none(lesson: Lesson) -> None:
    assert lesson.seen["task"] is None
    assert lesson.teacher.say("try", changes="node/busy cordon").status_code == 409


def test_what_the_class_proposes_is_run_and_all_see_what_came_of_it(at_task: Lesson) -> None:
    assert at_task.teacher.say("try", changes=cpu("7900m")).status_code == 204
    assert (tried(at_task)["changes"], tried(at_task)["goals"]) == (cpu("7900m"), None)
    work()
    assert tried(at_task) == {
        "changes": cpu("7900m"),
        "goals": [
            {
                "goal": "default/exact has a node",
                "met": False,
                "instead": "default/exact has no node",
            }
        ],
        "met": False,
        "error": "",
    }
    at_task.lead("try", changes=cpu("7"))
    assert tried(at_task)["met"]
    teacher: Any = teacher_document(at_task.room)["teacher"]
    run = Run.objects.get(pk=teacher["task"]["run"])
    assert run.workspace_id == at_task.room.workspace_id


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ("", "Type a change."),
        ("pod/default/shop delete", "Only this may be changed here: pod/default/exact."),
        (f"{cpu('1')}\n{cpu('2')}", "One change is allowed here; these are 2."),
        ("nonsense", "nonsense"),
    ],
)
def test_what_cannot_be_tried_is_said_to_the_teacher(
    at_task: Lesson, changes: str, says: str
) -> None:
    refused = at_task.teacher.say("try", changes=changes)
    assert (refused.status_code, says in refused.json()["detail"]) == (400, True)
    assert tried(at_task) is None


def test_students_run_nothing(at_task: Lesson) -> None:
    mina = at_task.enter("Mina")
    assert mina.say("try", changes=cpu("7")).status_code == 403
    assert tried(at_task) is None


def test_a_frozen_class_sees_no_new_try_and_another_step_none(at_task: Lesson) -> None:
    at_task.lead("freeze", on=True)
    at_task.lead("try", changes=cpu("7"))
    assert tried(at_task) is None
    at_task.lead("freeze", on=False)
    assert tried(at_task)["met"]
    at_task.lead("go", step=3)
    assert at_task.seen["task"] is None


@pytest.mark.parametrize(
    ("language", "goal"), [("zh-hans", "default/exact 有节点"), ("zh-hant", "default/exact 有節點")]
)
def test_goals_are_said_in_the_language_of_each_page(
    at_task: Lesson, language: str, goal: str
) -> None:
    at_task.lead("try", changes=cpu("7"))
    with translation.override(language):
        assert tried(at_task)["goals"][0]["goal"] == goal


def test_students_propose_and_the_teacher_alone_reads_it(at_task: Lesson) -> None:
    for amount, who in (("9", "Mina"), ("7", "Noah"), ("7", "")):
        seat = at_task.enter(who)
        assert seat.propose(cpu("1")).status_code == 204
        assert seat.propose(cpu(amount)).status_code == 204  # the latest counts
    assert seat.propose("node/attic cordon").status_code == 400
    teacher: Any = teacher_document(at_task.room)["teacher"]
    assert teacher["task"]["proposals"] == [
        {"changes": cpu("7"), "n": 2},
        {"changes": cpu("9"), "n": 1},
    ]
    for audience in ("class", "screen"):
        assert cpu("9") not in json.dumps(DOCUMENTS[audience](at_task.room))
    at_task.lead("go", step=1)
    assert seat.propose(cpu("7")).status_code == 409
