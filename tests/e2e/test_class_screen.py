"""What a class sees on the projector: all of it at once, large enough, in two languages."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import serious_findings
from tests.e2e.people import Open
from tests.waiting import eventually

PROJECTOR = (1280, 720)
LANGUAGES = ("en", "zh-CN")
SMALLEST_PX = 16
"""Of text on a projector of 1280 pixels: at ten metres it is small, but read."""
ROOM = """() => {
  const foot = document.querySelector(".class__foot").getBoundingClientRect();
  const all = [...document.querySelectorAll(".class__columns *, .class__contest *")];
  const shown = all.filter((e) => e.checkVisibility());
  return foot.top - Math.max(...shown.map((e) => e.getBoundingClientRect().bottom));
}"""
"""What is left between what is shown and the foot, in pixels."""


def open_class(page: Page, slug: str) -> str:
    page.goto("/class/open/")
    page.locator(f'form[action="/class/open/lesson/{slug}"] button').click()
    expect(page.locator("#step-title")).to_be_visible()
    return page.url.split("/")[-2]


def say(teacher: Page, **what: object) -> None:
    """Lead as the desk's buttons do, whatever the language."""
    done = teacher.evaluate(
        """async (what) => {
          const { code, csrf } = document.getElementById("class").dataset;
          const headers = { "Content-Type": "application/json", "X-CSRFToken": csrf };
          const body = JSON.stringify(what);
          const url = `/api/v1/classes/${code}/control/`;
          return (await fetch(url, { method: "POST", headers, body })).status;
        }""",
        what,
    )
    assert done in (204, 409), (done, what)


def fits(screen: Page) -> None:
    eventually(lambda: screen.evaluate(ROOM) >= 0)
    px = "parseFloat(getComputedStyle(document.querySelector('main')).fontSize)"
    assert screen.evaluate(px) >= SMALLEST_PX
    assert screen.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0


N_STEPS = 6


@pytest.mark.slow("a class of two screens and a phone goes through the longest lesson")
def test_nothing_of_a_lesson_is_below_the_foot_of_the_projector(people: Open) -> None:
    """In each language: as many screens show the same class."""
    teacher, phone = people(PROJECTOR), people(PROJECTOR)
    code = open_class(teacher, "preemption")
    screens = [people(PROJECTOR, language, like=teacher) for language in LANGUAGES]
    for screen in screens:
        screen.goto(f"/class/{code}/screen")
    phone.goto(f"/class/{code}/")
    phone.locator("main button[type=submit]").click()
    for number in range(1, N_STEPS + 1):
        say(teacher, do="go", step=number)
        for screen in screens:
            expect(screen.locator(".eyebrow").first).to_contain_text(
                re.compile(rf"\b{number}\D+{N_STEPS}")
            )
        for _ in range(2):
            say(teacher, do="ask")
        if number < N_STEPS:  # the last step is a task
            answer_second_vote(phone)
        for screen in screens:
            fits(screen)
        say(teacher, do="reveal")
        for screen in screens:
            if number < N_STEPS:
                expect(screen.locator(".class__verdict").first).to_be_visible()
            fits(screen)
    assert serious_findings(screens[0]) == []


def answer_second_vote(phone: Page) -> None:
    form = phone.locator("form.class__form")
    expect(phone.locator(".eyebrow")).to_contain_text("Vote again")  # the second vote's form
    expect(form.locator("input, .class__order").first).to_be_visible()  # nodes come a little later
    first = form.locator("input").first
    if first.count():
        first.check() if first.get_attribute("type") == "radio" else first.fill("2")
    form.locator("button[type=submit]").click()
    expect(phone.locator(".class__mine")).to_contain_text("Your answer is in")


def test_the_code_fills_the_projector_until_the_teacher_begins(people: Open) -> None:
    teacher = people(PROJECTOR)
    code = open_class(teacher, "requests")
    screen = teacher.context.new_page()
    screen.goto(f"/class/{code}/screen")
    large = screen.get_by_role("button", name="Show the code large")
    expect(large).to_have_attribute("aria-pressed", "true")
    qr = large.locator("svg").bounding_box()
    assert qr is not None
    assert qr["height"] > PROJECTOR[1] / 2
    assert serious_findings(screen) == []
    teacher.get_by_role("button", name="Next step").click()
    expect(large).to_have_attribute("aria-pressed", "false")
    screen.set_viewport_size({"width": 320, "height": 640})
    for _ in range(2):  # the code large, and beside the step
        assert screen.evaluate("document.documentElement.scrollWidth") <= 320
        large.click()
    expect(screen.get_by_role("heading", name="What does a pod request?")).to_be_in_viewport()
    large.click()
    expect(large).to_have_attribute("aria-pressed", "true")


def test_a_class_tries_what_it_agreed_on(people: Open) -> None:
    teacher, phone = people(PROJECTOR), people(PROJECTOR)
    code = open_class(teacher, "what-is-a-node")
    phone.goto(f"/class/{code}/")
    phone.get_by_role("button", name="Come in").click()
    say(teacher, do="go", step=4)
    screen = teacher.context.new_page()
    screen.goto(f"/class/{code}/screen")
    for page in (teacher, phone, screen):
        expect(page.get_by_role("heading", name="Try it yourself")).to_be_visible()
        expect(page.get_by_text("pod/default/exact", exact=True)).to_be_visible()
    change = "pod/default/exact set spec.containers[0].resources.requests.cpu={}"
    teacher.get_by_text("Write changes as lines").click()
    typed = teacher.get_by_label("What the class wants to change")
    typed.fill("pod/default/shop delete")
    teacher.get_by_role("button", name="Run it").click()
    expect(teacher.get_by_text("Only this may be changed here").first).to_be_visible()
    expect(typed).to_have_value("pod/default/shop delete")
    for amount, verdict in (("7900m", "✗ Not yet"), ("7", "✓ It works")):
        typed.fill(change.format(amount))
        teacher.get_by_role("button", name="Run it").click()
        for page in (teacher, phone, screen):
            expect(page.get_by_text(verdict)).to_be_visible()
    expect(phone.locator("[data-live]")).to_have_text("It works")
    assert serious_findings(teacher) == serious_findings(phone) == []


def test_what_is_drawn_lies_on_the_same_node_of_every_page(people: Open) -> None:
    teacher, phone = people(PROJECTOR), people((390, 800))
    code = open_class(teacher, "what-is-a-node")
    phone.goto(f"/class/{code}/")
    phone.get_by_role("button", name="Come in").click()
    teacher.get_by_role("button", name="Circle").click()
    card = teacher.locator('[data-node="cellar"]')
    card.scroll_into_view_if_needed()
    box = card.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    teacher.mouse.move(x, y)
    teacher.mouse.down()
    teacher.mouse.move(x + 10, y)
    teacher.mouse.up()
    for page in (teacher, phone):
        drawn = page.locator(".scene__marks circle")
        expect(drawn).to_have_count(1)
        on, circle = page.locator('[data-node="cellar"]').bounding_box(), drawn.bounding_box()
        assert on is not None
        assert circle is not None
        assert abs(on["x"] + on["width"] / 2 - circle["x"] - circle["width"] / 2) < 8
        assert abs(on["y"] + on["height"] / 2 - circle["y"] - circle["height"] / 2) < 8
