"""Handles of tasks: every bundled task can be done by moving them."""

from __future__ import annotations

import pytest

from kviz.lessons.enacting import planned_run
from kviz.lessons.handles import Handle, made_of
from kviz.lessons.lesson import Lesson, Task
from kviz.lessons.library import library
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.changes import read_lines

TASKS = [
    pytest.param(each.lesson, step.task, id=f"{each.slug}-{i}")
    for each in library().lessons
    for i, step in enumerate(each.lesson.steps, start=1)
    if step.task is not None
]


def handles_in(lesson: Lesson, task: Task) -> list[Handle]:
    objects, _, rules = planned_run(lesson)
    return list(made_of(task, ClusterObjects(objects), rules))


@pytest.mark.parametrize(("lesson", "task"), TASKS)
def test_the_handles_write_the_solution_and_stand_where_the_cluster_does(
    lesson: Lesson, task: Task
) -> None:
    found = handles_in(lesson, task)
    for line in task.solution:
        moved = [(h, value) for h in found if (value := h.value_for(line)) is not None]
        assert [h.line_for(value) for h, value in moved] == [line]
    assert all(each.line_for(each.now) == "" for each in found)
    for each in found:
        for option in each.options:
            if option.line:
                read_lines(option.line)
