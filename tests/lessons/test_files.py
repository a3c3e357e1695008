"""Lessons are files: those that come with kviz are right, and what is wrong is said where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kviz.cli import main
from kviz.lessons.checking import check_lesson
from kviz.lessons.library import bundled_files, library, read_library
from kviz.lessons.marking_up import html_of
from kviz.lessons.reading import read_lesson
from kviz.lessons.selectors import library_in
from kviz.lessons.template import TEMPLATE
from kviz.lessons.texts import read_texts
from scheduler_core.config import ConfigError


@pytest.mark.slow("some answers are counted over a hundred runs")
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
    assert all(each.lesson.known is not None for each in found.lessons)
    assert {each.lesson.summary.count(". ") for each in found.lessons} == {2}  # three sentences
    assert all(step.notes for each in found.lessons for step in each.lesson.steps)


def test_the_template_is_a_lesson(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", "template"]) == 0
    assert capsys.readouterr().out == TEMPLATE
    file = tmp_path / "mine.yaml"
    file.write_text(TEMPLATE)
    assert main(["lesson", "check", str(file), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["lessons"]
    counts = {"moments": 2, "answers": 1, "tasks": 1, "texts": 0}
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
        ("{cycle: 0, pod", "{cycle: 1, pod", "steps[0].at.cycle", "is hidden at this step"),
        ("- node/large cordon", "- node/large fly", "steps[2].task.solution[0]", "fly"),
        ("- node/large cordon", "- node/small cordon", "steps[2].task.solution", "is on large"),
        ("- node/large cordon", "- pod/default/web delete", "steps[2].task.solution[0]", "allows"),
        ("hidden_after: 0", "hidden_after: 1", "hidden_after", "hides nothing"),
        ("hidden_after: 0", "veil: 1", "veil", "hides nothing"),
        ("hidden_after: 0", "hidden_after: 0\nveil: 0", "veil", "give one of them"),
        ("      to: end", "      to: 1", "hidden_after", "no step reveals the end"),
        (
            "hidden_after: 0",
            "hidden_after: {cycle: 1, after: DryRun}",
            "hidden_after.after",
            "does not come to it",
        ),
        ("hidden_after: 0", "hidden_after: {cycle: 1, after: Bind}", "hidden_after.after", "Bind"),
        (
            "hidden_after: 0",
            "hidden_after: {cycle: 0, after: Filter}",
            "hidden_after.cycle",
            "at least 1",
        ),
        (
            "hidden_after: 0",
            "hidden_after: {cycle: 1, after: Filter, plugin: X}",
            "hidden_after.plugin",
            "is for Score",
        ),
        (
            "hidden_after: 0",
            "hidden_after: {cycle: 1, after: Score, plugin: X}",
            "hidden_after.after",
            "not come to it",
        ),
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


CHINESE = """\
title: 两个节点
steps:
- title: 集群
- question: {ask: default/web 会在哪里运行}
"""


def test_a_lesson_of_a_folder_has_texts_of_its_own_by_language(tmp_path: Path) -> None:
    (tmp_path / "20-mine.yaml").write_text(TEMPLATE)
    (tmp_path / "20-mine.zh-Hans.yaml").write_text(CHINESE)
    (tmp_path / "21-other.zh-Hans.yaml").write_text(CHINESE)
    assert [path.name for path, _ in library(str(tmp_path)).broken] == ["21-other.zh-Hans.yaml"]
    english = library_in("en", str(tmp_path)).get("mine")
    chinese = library_in("zh-hans", str(tmp_path)).get("mine")
    assert english is not None
    assert chinese is not None
    assert chinese.lesson.title == "两个节点"
    assert chinese.lesson.steps[0].title == "集群"
    assert chinese.lesson.steps[0].text.strip() == english.lesson.steps[0].text
    question, asked = english.lesson.steps[1].question, chinese.lesson.steps[1].question
    assert question is not None
    assert asked is not None
    assert asked.ask == "default/web 会在哪里运行"
    assert (asked.answer, asked.fact) == (question.answer, question.fact)
    assert chinese.sha256 == english.sha256


@pytest.mark.parametrize(
    ("texts", "field", "message"),
    [
        ("{}", "title", "is not translated"),
        ("steps: [{title: 集群}]", "steps[0].text", "is not translated"),
        ("titel: 课", "titel", "the lesson has no such text"),
        ("minutes: 5", "minutes", "the lesson has no such text"),
        ("title: 5", "title", "must be a text"),
    ],
)
def test_what_is_wrong_with_texts_is_said(
    texts: str, field: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.yaml").write_text(TEMPLATE)
    (tmp_path / "mine.zh-Hant.yaml").write_text(texts)
    assert main(["lesson", "check", str(tmp_path / "mine.yaml"), "--json"]) == 1
    lesson, translation = json.loads(capsys.readouterr().out)["lessons"]
    assert lesson["valid"]
    found = [(each["field"], each["message"]) for each in translation["problems"]]
    assert (field, message) in found


def test_texts_that_are_all_there_are_fine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.yaml").write_text(TEMPLATE)
    lesson = read_lesson(TEMPLATE)
    _, missing = read_texts(lesson, "{}")
    file = tmp_path / "mine.fr.yaml"
    file.write_text(json.dumps(tree_of([problem.path for problem in missing])))
    assert main(["lesson", "check", str(file)]) == 0
    assert f"fine: all {len(missing)} texts are there" in capsys.readouterr().out


def tree_of(paths: list[tuple[str | int, ...]]) -> object:
    """Mappings and lists with a text at each of the paths."""
    if paths == [()]:
        return "texte"
    by_first: dict[str | int, list[tuple[str | int, ...]]] = {}
    for first, *rest in paths:
        by_first.setdefault(first, []).append(tuple(rest))
    if isinstance(next(iter(by_first)), int):
        return [
            tree_of(by_first[i]) if i in by_first else {}
            for i in range(max(map(int, by_first)) + 1)
        ]
    return {name: tree_of(rest) for name, rest in by_first.items()}


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lesson", "check", "nowhere.yaml"]) == 2
    assert "nowhere.yaml" in capsys.readouterr().err


def test_an_empty_file_is_no_lesson() -> None:
    with pytest.raises(ConfigError):
        read_lesson("")


def test_a_wide_table_scrolls_and_is_called_by_its_columns() -> None:
    html = html_of("| a | b |\n|---|---|\n| 1 | 2 |\n")
    opening = '<div class="table-wrap" role="group" tabindex="0" aria-label="a, b"><table>'
    assert html.startswith(opening)
    assert html.rstrip().endswith("</table></div>")
