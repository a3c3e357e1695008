"""Fixtures of a class: its room, its teacher's browser, and browsers of those who come."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from pytest_django import Settings

from tests.classroom.people import Browser, Lesson, open_lesson


@pytest.fixture(autouse=True)
def _many_people(settings: Settings) -> None:
    """A class is of many people, each with a session of their own."""
    settings.MODE = "server"
    cache.clear()


@pytest.fixture
def lesson(db: None) -> Lesson:
    return open_lesson()


@pytest.fixture
def mina(lesson: Lesson) -> Browser:
    return lesson.enter("Mina")


@pytest.fixture
def noah(lesson: Lesson) -> Browser:
    return lesson.enter("Noah")
