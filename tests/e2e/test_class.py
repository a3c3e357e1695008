"""A teacher and three students, through a whole lesson: a phone, a lost connection, a late one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import Page, WebSocketRoute, expect

from tests.e2e.axe import serious_findings
from tests.e2e.people import Open

LESSON = "Requests, and what is left"
PHONE = (390, 800)
NARROW = (320, 640)
LAPTOP = (1280, 720)
ZOOMED = (320, 256)


@dataclass
class Wire:
    """A page's connection, which can be cut."""

    is_cut: bool = False
    route: WebSocketRoute | None = None

    def connect(self, route: WebSocketRoute) -> None:
        self.route = route
        if self.is_cut:
            route.close(code=1011)
        else:
            route.connect_to_server()

    def cut(self) -> None:
        self.is_cut = True
        assert self.route is not None
        self.route.close(code=1011)


def open_class(teacher: Page) -> str:
    teacher.goto("/class/open/")
    teacher.get_by_role("button", name=f"Open a class: {LESSON}").click()
    expect(teacher.get_by_text("Step 1 of 4")).to_be_visible()
    return teacher.url.split("/")[-2]


def come_in(page: Page, code: str, name: str = "") -> None:
    page.goto(f"/class/{code}/")
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Come in").click()


def press(teacher: Page, name: str) -> None:
    teacher.get_by_role("button", name=name).click()


def answer(page: Page, number: str) -> None:
    page.locator("input[name=answer]").fill(number)
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_text("Your answer is in")).to_be_visible()


def test_a_class_goes_through_a_lesson_together(people: Open) -> None:
    teacher, phone, losing, late = people(LAPTOP), people(PHONE), people(LAPTOP), people(NARROW)
    wire = Wire()
    losing.route_web_socket("**/ws/class/**", wire.connect)
    code = open_class(teacher)
    come_in(phone, code.lower(), "Mina")
    come_in(losing, code, "Noah")
    expect(teacher.get_by_text("In the class: 2")).to_be_visible()

    press(teacher, "Next step")
    press(teacher, "Ask the question")
    answer(phone, "2")
    answer(losing, "3")
    expect(teacher.get_by_text("Answered: 2 of 2")).to_be_visible()
    expect(phone.get_by_text("The answer", exact=False)).to_have_count(0)

    wire.cut()
    expect(losing.locator("[data-lost]")).to_contain_text("Connection lost")
    press(teacher, "Close the vote")
    expect(phone.get_by_text("The vote is closed").last).to_be_visible()
    press(teacher, "Ask again after a discussion")
    come_in(late, code)
    expect(late.get_by_role("heading", name="On how many of the three nodes")).to_be_visible()
    wire.is_cut = False
    expect(losing.get_by_text("Vote again, after the discussion")).to_be_visible()
    expect(losing.locator("[data-lost]")).to_be_hidden()
    for page, number in ((phone, "1"), (losing, "1"), (late, "2")):
        answer(page, number)
    phone.reload()
    expect(phone.get_by_text("Your answer: 1 of 3")).to_be_visible()

    press(teacher, "Reveal")
    expect(phone.locator(".class__verdict")).to_have_text("Your answer: 1 of 3 ✓ Right: 1 of 3 ✓")
    expect(late.locator(".class__verdict")).to_have_text("Your answer: 2 of 3 ✗ Right: 1 of 3 ✓")
    gain = "Right: 0 of 2 before the discussion, 2 of 2 after it."
    for page in (teacher, phone, losing, late):
        expect(page.get_by_text(gain)).to_be_visible()
        expect(page.locator(".podcard", has_text="default/web")).to_be_visible()

    for step in (3, 4):
        press(teacher, "Next step")
        expect(phone.get_by_text(f"Step {step} of 4")).to_be_visible()
        if step == 3:
            press(teacher, "Ask the question")
            answer(phone, "2")
            press(teacher, "Reveal")
            expect(losing.get_by_text("Right: 2 of 3").last).to_be_visible()
    teacher.get_by_role("button", name="End the class").click()
    expect(phone.get_by_text("The class is over").last).to_be_visible()
    phone.goto(f"/class/{code}/")
    expect(phone.get_by_role("heading", name="There is no class with this code")).to_be_visible()


def test_a_class_plays_against_the_scheduler(people: Open) -> None:
    teacher, phone, narrow = people(LAPTOP), people(PHONE), people(NARROW)
    teacher.goto("/by-hand/")
    press(teacher, "Place the pods: Size trap")
    press(teacher, "Play it with a class")
    expect(teacher.get_by_role("heading", name="Beat the scheduler", exact=True)).to_be_visible()
    code = teacher.url.split("/")[-2]
    come_in(phone, code, "Mina")
    come_in(narrow, code)

    put(phone, ("default/large", "n1"), ("default/small", "n2"))
    put(narrow, ("default/small", "n1"))
    press(narrow, "default/large")
    expect(narrow.get_by_text("NodeResourcesFit: needs 4 cpu, 2 free of 4").first).to_be_visible()
    press(phone, "I am done")
    expect(phone.get_by_text("comes when the teacher shows it").first).to_be_visible()
    press(narrow, "I am done")
    expect(narrow.get_by_text("Pods without a node: 1").first).to_be_visible()
    press(narrow, "I am done")
    expect(teacher.get_by_text("Placing pods: 2. Done: 2.")).to_be_visible()
    for page in (phone, narrow):
        expect(page.get_by_text("kube-scheduler", exact=True)).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator("[aria-live]").count() == 1
        assert serious_findings(page) == []

    press(teacher, "Show what the scheduler did")
    expect(phone.get_by_text("You beat the scheduler, and no placement is better")).to_be_visible()
    expect(narrow.get_by_text("You did as well as the scheduler.")).to_be_visible()
    expect(narrow.get_by_text("Mina")).to_have_count(0)
    press(teacher, "Show the placement of Mina")
    expect(narrow.get_by_role("heading", name="Mina")).to_be_visible()
    press(teacher, "Show scores")
    expect(narrow.locator(".class__leaders li").first).to_contain_text("Mina: 2 placed")
    assert serious_findings(teacher) == []
    press(teacher, "Back to the step")
    expect(phone.get_by_text("Before the first cycle")).to_be_visible()


def put(page: Page, *moves: tuple[str, str]) -> None:
    for pod, node in moves:
        page.get_by_role("button", name=pod).click()
        page.get_by_role("button", name=f"Place {pod} on {node}").click()


def test_who_looks_around_in_the_explorer_comes_back(people: Open) -> None:
    teacher, laptop = people(LAPTOP), people(LAPTOP)
    code = open_class(teacher)
    come_in(laptop, code)
    press(teacher, "Next step")
    laptop.get_by_role("link", name="Look around in the Explorer").click()
    expect(laptop.get_by_text(f"{code} · What does a pod request?")).to_be_visible()
    press(teacher, "Reveal")
    expect(laptop).to_have_url(re.compile("c=1.*p=Filter.*g=NodeResourcesFit"))
    laptop.get_by_role("button", name="PreFilter").first.click()
    expect(laptop).not_to_have_url(re.compile("g=NodeResourcesFit"))
    laptop.get_by_role("button", name="Come back to the teacher's moment").click()
    expect(laptop).to_have_url(re.compile("g=NodeResourcesFit"))


def test_a_teacher_freezes_blacks_out_and_hands_the_pointer(people: Open) -> None:
    teacher, phone = people(LAPTOP), people(PHONE)
    code = open_class(teacher)
    come_in(phone, code, "Mina")
    expect(teacher.get_by_text("In the class: 1")).to_be_visible()

    teacher.get_by_role("button", name="Freeze", exact=True).click()
    expect(phone.get_by_text("The teacher has frozen the class.").last).to_be_visible()
    press(teacher, "Next step")
    expect(teacher.get_by_text("Step 2 of 4")).to_be_visible()
    expect(phone.get_by_text("Step 1 of 4")).to_be_visible()
    press(teacher, "Let the class follow")
    expect(phone.get_by_text("Step 2 of 4")).to_be_visible()

    press(teacher, "Black out")
    expect(phone.get_by_text("The teacher has blacked out the screen.").last).to_be_visible()
    press(teacher, "Show again")
    expect(phone.get_by_text("Step 2 of 4")).to_be_visible()

    press(teacher, "Hand the pointer to Mina")
    expect(phone.get_by_text("You have the pointer: move over the map.")).to_be_visible()
    press(teacher, "Take the pointer back")
    expect(phone.get_by_text("You have the pointer: move over the map.")).to_be_hidden()


def test_two_classes_keep_apart_and_a_teacher_leads_on_from_a_second_tab(people: Open) -> None:
    ada, ben, mina, noah = (people(size) for size in (LAPTOP, LAPTOP, PHONE, PHONE))
    first, second = open_class(ada), open_class(ben)
    come_in(mina, first)
    come_in(noah, second)
    press(ada, "Next step")
    press(ada, "Ask the question")
    answer(mina, "1")
    ada.reload()
    expect(ada.get_by_text("Answered: 1 of 1")).to_be_visible()
    tab = ada.context.new_page()
    tab.goto(f"/class/{first}/lead")
    press(tab, "Reveal")
    for page in (ada, mina):
        expect(
            page.get_by_text("The answer: 1 of 3").or_(page.get_by_text("✓ Right")).first
        ).to_be_visible()
    expect(noah.get_by_text("Step 1 of 4")).to_be_visible()
    expect(noah.locator("input[name=answer]")).to_have_count(0)
    expect(ben.get_by_text("In the class: 1")).to_be_visible()


def test_a_class_works_at_400_per_cent_zoom_and_with_the_keyboard(people: Open) -> None:
    """A window of 1280 pixels at 400 % is 320 CSS pixels wide, and 256 high."""
    teacher, phone = people(ZOOMED), people(ZOOMED)
    code = open_class(teacher)
    come_in(phone, code)
    press(teacher, "Next step")
    press(teacher, "Ask the question")
    field = phone.locator("input[name=answer]")
    expect(field).to_be_visible()
    assert phone.locator("[aria-live]").count() == 1
    for page in (teacher, phone):
        assert serious_findings(page) == []
    for _ in range(20):
        phone.keyboard.press("Tab")
        if field.evaluate("each => each === document.activeElement"):
            break
    phone.keyboard.type("1")
    phone.keyboard.press("Enter")
    expect(phone.get_by_text("Your answer is in")).to_be_visible()
    press(teacher, "Reveal")
    expect(phone.get_by_text("Right: 1 of 3")).to_be_visible()
    for page in (teacher, phone):
        for width, height in (ZOOMED, NARROW):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert serious_findings(page) == []
