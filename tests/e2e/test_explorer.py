"""The Explorer, as a teacher, a student and an engineer use it: by roles and names only."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Locator, Page, expect

from tests.waiting import eventually

SIZES = {"projector": (1280, 720), "desk": (1600, 900), "phone": (390, 844), "narrow": (320, 640)}
DESKS = ((1280, 720), (1440, 900), (1920, 1080))


def explore(page: Page, run: str, query: str = "") -> None:
    page.goto(f"/runs/{run}/explore{query}")
    expect(page.get_by_label("Go to cycle")).not_to_have_value("0")


def story(page: Page) -> Locator:
    return page.get_by_role("region", name="Pipeline").get_by_role("paragraph")


def queues(page: Page) -> Locator:
    return page.get_by_role("region", name="Queues")


def inspector(page: Page) -> Locator:
    return page.get_by_role("region", name="Inspector")


def told(page: Page) -> tuple[str, str, str]:
    """What the story, the Inspector's panel and the queues say, once the details are here."""
    panel = inspector(page).get_by_role("tabpanel")
    expect(panel).not_to_be_empty()
    expect(panel).to_have_attribute("aria-busy", "false")
    return story(page).inner_text(), panel.inner_text(), queues(page).inner_text()


# ---------------------------------------------------------------- moving


def test_back_takes_back_tabs_places_and_a_key_held_down(page: Page, clinic: str) -> None:
    explore(page, clinic)
    cycle = page.get_by_label("Go to cycle")
    page.get_by_role("tab", name="Filter").click()
    page.evaluate("document.activeElement.blur()")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(cycle).to_have_value("5")
    page.go_back()
    expect(cycle).to_have_value("1")
    expect(page.get_by_role("tab", name="Filter")).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(page.get_by_role("tab", name="Why")).to_have_attribute("aria-selected", "true")
    page.go_forward()
    expect(page.get_by_role("tab", name="Filter")).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name=re.compile("^Filter")).click()
    place = page.get_by_role("navigation", name="Where you are")
    expect(place).to_contain_text("Filter")
    page.go_back()
    expect(place).not_to_contain_text("Filter")


def test_the_inspector_is_made_wider_by_keyboard_and_stays_so(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=3")
    edge = page.get_by_role("separator", name="Width of the Inspector")
    before = inspector(page).bounding_box()
    assert before is not None
    edge.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(edge).to_have_attribute("aria-valuenow", str(round(before["width"] + 48)))
    after = inspector(page).bounding_box()
    assert after is not None
    assert round(after["width"] - before["width"]) == 48
    expect(page.get_by_label("Go to cycle")).to_have_value("3")
    page.reload()
    expect(edge).to_have_attribute("aria-valuenow", str(round(after["width"])))


def test_a_link_opens_the_same_view_elsewhere(
    page: Page, browser: Browser, base_url: str, clinic: str
) -> None:
    explore(page, clinic, "?c=6")
    page.get_by_role("tab", name="Score").click()
    page.get_by_role("button", name=re.compile("^Score")).click()
    page.get_by_label("Group").select_option("pool")
    queues(page).get_by_role("button", name="clinic/train-1").click()
    expect(page).to_have_url(re.compile(r"c=6.*p=Score.*pod=clinic/train-1.*tab=score.*by=pool"))
    elsewhere = browser.new_context(base_url=base_url)
    other = elsewhere.new_page()
    other.goto(page.url)
    expect(other.get_by_label("Group")).to_have_value("pool")
    eventually(lambda: told(other) == told(page))  # values behind the scores come from the server
    expect(queues(other).get_by_role("button", name="clinic/train-1")).to_have_attribute(
        "aria-pressed", "true"
    )
    elsewhere.close()


# ---------------------------------------------------------------- map, tables, finding


def test_a_dry_run_plays_on_the_map(page: Page, preemption: str) -> None:
    explore(page, preemption, "?c=1&tab=preempt&n=node-5")
    panel = inspector(page).get_by_role("tabpanel", name="Preempt")
    canvas = page.locator("#cluster-map canvas")
    winner = panel.get_by_role("group").filter(has_text="node-5").first
    expect(winner).to_contain_text("2 of 2 tried")
    as_it_ended = canvas.screenshot()
    winner.get_by_role("button", name="Back").click()
    expect(winner).to_contain_text("1 of 2 tried")
    expect(winner).not_to_contain_text("may stay")
    one_tried = eventually(lambda: other_than(as_it_ended, canvas.screenshot()))
    winner.get_by_role("button", name="Try the next").click()
    expect(winner).to_contain_text("may stay")
    eventually(lambda: other_than(one_tried, canvas.screenshot()))
    winner.get_by_role("button", name="Play on the map").click()
    expect(winner).to_contain_text("0 of 2 tried")
    expect(winner).to_contain_text("2 of 2 tried")
    expect(winner.get_by_role("button", name="Play on the map")).to_be_visible()
    winner.get_by_role("button", name="Leave").click()
    page.mouse.move(0, 0)
    eventually(lambda: canvas.screenshot() == as_it_ended)

    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    regions = page.get_by_role("group", name="Region shown")
    shown = regions.get_by_role("button", name="Inspector")
    expect(shown).to_have_attribute("aria-pressed", "true")  # the address names one of its tabs
    inspector(page).get_by_role("button", name="Play on the map").first.click()
    expect(regions.get_by_role("button", name="Map")).to_have_attribute("aria-pressed", "true")


def other_than(before: bytes, now: bytes) -> bytes | None:
    return now if now != before else None


def test_the_map_can_be_walked_and_read_as_a_table(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6")
    cluster = page.get_by_role("application", name=re.compile("Map of 5 nodes"))
    cluster.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("n="))
    expect(page.get_by_label("Go to cycle")).to_have_value("6")
    page.keyboard.press("t")
    table = page.get_by_role("table", name="Nodes")
    expect(table.get_by_role("row")).to_have_count(6)
    row = table.get_by_role("row", name=re.compile("worker-3"))
    expect(row).to_contain_text("rejected")
    expect(row).to_contain_text("node(s) were unschedulable")
    page.get_by_label("Filter nodes").fill("worker")
    expect(table.get_by_role("row")).to_have_count(4)
    expect(page.get_by_text("showing 3 of 5")).to_be_visible()
    page.get_by_label("Filter nodes").fill("")
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile("^rejected")).click()
    expect(table.get_by_role("row")).to_have_count(4)


def test_anything_is_found_by_typing(page: Page, clinic: str) -> None:
    explore(page, clinic)
    field = page.get_by_label("Find a pod, node, cycle or command")
    page.keyboard.press("Control+k")
    field.fill("worker-2")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("n=worker-2"))
    page.keyboard.press("/")
    field.fill("list of")
    page.keyboard.press("Enter")
    cycles = page.get_by_role("table", name="Cycles of the run")
    cycles.get_by_role("row", name=re.compile("^9 ")).click()
    expect(page.get_by_label("Go to cycle")).to_have_value("9")
    page.keyboard.press("Control+k")
    field.fill("ecache")  # a word of former releases
    expect(page.get_by_role("option").filter(has_text="It was removed")).to_be_visible()
    field.fill("export queues")
    expect(page.get_by_role("option", name="Export: Queues")).to_be_visible()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "The-pending-clinic-cycle-9-queues.csv"
    expect(page.get_by_role("status")).to_contain_text("rows")


# ---------------------------------------------------------------- on every screen


def test_nothing_sticks_out_sideways(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6&p=Filter&g=TaintToleration")
    for name, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        expect(page.get_by_role("button", name="Inspector")).to_be_visible(visible=width < 900)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    page.get_by_role("button", name="Inspector").click()
    expect(inspector(page).get_by_role("tab", name="Why")).to_be_visible()
    expect(queues(page)).to_be_hidden()


def test_the_criterion_that_decided_is_in_sight(page: Page, preemption: str) -> None:
    explore(page, preemption, "?c=1&tab=preempt")
    panel = inspector(page).get_by_role("tabpanel", name="Preempt")
    head = panel.get_by_role("columnheader", name="latest start")
    tabs = inspector(page).get_by_role("tab")
    for width, height in DESKS:
        page.set_viewport_size({"width": width, "height": height})
        expect(head).to_be_visible()
        column, inside = head.bounding_box(), panel.bounding_box()
        assert column is not None
        assert inside is not None
        assert column["x"] + column["width"] <= inside["x"] + inside["width"], width
        tops = {box["y"] for box in map(Locator.bounding_box, tabs.all()) if box}
        assert len(tops) == 1, f"at {width} the tabs stand on one line"
