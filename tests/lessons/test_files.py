"""Lessons are files: those that come with kviz are right, and what is wrong is said where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kviz.cli import main
from kviz.lessons.checking import check_lesson
from kviz.lessons.library import bundled_files, library, read_library
from kviz.lessons.reading import read_lesson
from kviz.lessons.template import TEMPLATE
from scheduler_core.config import ConfigError


@pytest.mark.parametrize("path", bundled_files(), ids=lambda path: path.stem)
def test_a_lesson_says_what_the_engine_says(path: Path) -> None:
    text = path.read_text()
    checked = check_lesson(read_lesson(text), text)
    assert [str(each) for each in checked.problems] == []
    assert checked.answers >= 2
    assert checked.moments >= 2


def test_there_are_lessons_for_a_whole_course() -> None:
    found = library()
    assert found.broken == ()
    assert len(found.lessons) >= 12
    assert all(5 <= each.lesson.minutes <= 10 for each in found.lessons)
    assert all(each.lesson.veil is not None for each in found.lessons)
    assert all(step.notes for each in found.lessons for step in each.lesson.steps)


def test_the_template_is_a_lesson(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", "template"]) == 0
    assert capsys.readouterr().out == TEMPLATE
    file = tmp_path / "mine.yaml"
    file.write_text(TEMPLATE)
    assert main(["lesson", "check", str(file), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["lessons"]
    counts = {"moments": 2, "answers": 1, "tasks": 1}
    assert found == {"file": str(file), "valid": True, **counts, "problems": []}


@pytest.mark.parametrize(
    ("line", "instead", "field", "says"),
    [
        ("kind: node ", "kind: nodes", "steps[1].question.kind", "Invalid enum value"),
        ("minutes: 5", "minuets: 5", "minuets", "minuets"),
        ("answer: large", "answer: 3", "steps[1].question.answer", "is a text"),
        ("answer: large", "answer: small", "steps[1].question.answer", "the engine says 'large'"),
        ("value: node}", "value: nude}", "steps[1].question.fact", "there is no nude"),
        ("{cycle: 1, point", "{cycle: 7, point", "steps[1].reveal.at.cycle", "no cycle 7"),
        ("{cycle: 0, pod", "{cycle: 1, pod", "steps[0].at.cycle", "is veiled at this step"),
        ("- node/large cordon", "- node/large fly", "steps[2].task.solution[0]", "fly"),
        ("- node/large cordon", "- node/small cordon", "steps[2].task.solution", "is on large"),
        ("- node/large cordon", "- pod/default/web delete", "steps[2].task.solution[0]", "allows"),
        ("veil: 0", "veil: 1", "veil", "hides nothing"),
        ("      to: end", "      to: 1", "veil", "no step reveals the end"),
    ],
)
def test_what_is_wrong_is_said_with_line_and_field(
    line: str, instead: str, field: str, says: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert line in TEMPLATE
    file = tmp_path / "wrong.yaml"
    file.write_text(TEMPLATE.replace(line, instead, 1))
    assert main(["lesson", "check", str(file), "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["lessons"]
    problems = [each for each in found["problems"] if says in each["message"]]
    assert [each["field"] for each in problems] == [field]
    assert problems[0]["line"] is not None


def test_lessons_of_a_folder_join_those_of_kviz_and_a_broken_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "20-mine.yaml").write_text(TEMPLATE)
    (tmp_path / "21-broken.yaml").write_text("title: [")
    found = read_library(sorted(tmp_path.iterdir()))
    assert [each.slug for each in found.lessons] == ["mine"]
    assert [path.name for path, _ in found.broken] == ["21-broken.yaml"]


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", "check", "nowhere.yaml"]) == 2
    assert "nowhere.yaml" in capsys.readouterr().err


def test_an_empty_file_is_no_lesson() -> None:
    with pytest.raises(ConfigError):
        read_lesson("")
