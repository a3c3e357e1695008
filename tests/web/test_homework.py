"""Homework: a link to a lesson, whose results come back to the teacher's page."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from kviz.common.mode import Mode
from kviz.lessons.models import HandIn, Homework
from tests.web.cast import execute

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _a_server(settings: Settings) -> None:
    """On which every browser is a guest with a workspace of its own."""
    settings.MODE = Mode.SERVER


@pytest.fixture
def teacher() -> Client:
    return Client(raise_request_exception=False)


@pytest.fixture
def mina() -> Client:
    return Client(raise_request_exception=False)


@pytest.fixture
def given(teacher: Client) -> Homework:
    teacher.post("/learn/what-is-a-node/homework")
    return Homework.objects.get()


def door(given: Homework) -> str:
    return f"/learn/homework/{given.code}/"


def page(teacher: Client, given: Homework, more: str = "") -> str:
    answer = teacher.get(f"/learn/homework/{given.pk}{more}")
    assert answer.status_code == 200
    return answer.getvalue().decode()


def begun(who: Client, given: Homework, name: str) -> None:
    answer = who.post(f"{door(given)}begin", {"name": name})
    assert answer["Location"] == "/learn/what-is-a-node/1"
    execute(worker="w")
    who.post("/learn/what-is-a-node/1/next")


def test_who_has_the_link_sees_one_field_and_no_menu(mina: Client, given: Homework) -> None:
    text = mina.get(door(given)).content.decode()
    assert text.count("<input") - text.count('type="hidden"') == 1
    assert "What is a node?" in text
    assert "masthead" not in text
    assert mina.post(f"{door(given)}begin", {"name": " "})["Location"] == door(given)


def test_what_is_handed_in_comes_to_the_teachers_page(
    teacher: Client, mina: Client, given: Homework
) -> None:
    begun(mina, given, " Mina  K ")
    assert "at step 2 of 4" in page(teacher, given)
    for _ in range(2):  # so often it may be answered
        mina.post("/learn/what-is-a-node/2/answer", {"answer": "cellar"})
    assert "cellar" not in page(teacher, given)  # before it is handed in

    done = mina.get("/learn/what-is-a-node/done").content.decode()
    assert "Not handed in yet" in done
    assert "Each resource must fit by itself" in done
    mina.post("/learn/what-is-a-node/hand-in")
    assert "Handed in as Mina K" in mina.get("/learn/what-is-a-node/done").content.decode()
    found = page(teacher, given)
    assert "Begun: 1. Handed in: 1." in found
    assert "Step 2: 0 of 1 right." in found
    head, row = page(teacher, given, "?csv").splitlines()
    assert head.startswith("name,handed in,lesson,step")
    assert row.startswith("Mina K,")
    assert "cellar" in row

    HandIn.objects.get().workspace.delete()  # type: ignore[union-attr]  # as a guest's, one day
    assert "cellar" in page(teacher, given)


def test_it_is_the_teachers_and_ends(teacher: Client, mina: Client, given: Homework) -> None:
    begun(mina, given, "Mina")
    assert mina.get(f"/learn/homework/{given.pk}").status_code == 404
    assert mina.post(f"/learn/homework/{given.pk}/delete").status_code == 404
    assert f"/learn/homework/{given.pk}" in teacher.get("/class/open/").content.decode()
    Homework.objects.update(closes_at=timezone.now() - dt.timedelta(days=1))
    assert mina.get(door(given)).status_code == 404
    teacher.get("/class/open/")
    assert (Homework.objects.count(), HandIn.objects.count()) == (0, 0)
