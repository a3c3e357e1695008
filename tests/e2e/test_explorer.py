"""The Explorer, as a teacher, a student and an engineer use it: by roles and names only."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.waiting import eventually

SIZES = {"projector": (1280, 720), "desk": (1600, 900), "phone": (390, 844), "narrow": (320, 640)}


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


# ---------------------------------------------------------------- playing and stepping


def test_a_sample_opens_at_its_first_cycle_and_plays_to_the_end(page: Page, clinic: str) -> None:
    explore(page, clinic)
    expect(page.get_by_label("Go to cycle")).to_have_value("1")
    page.get_by_label("speed").select_option("10")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_label("Go to cycle")).to_have_value("11")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_stepping_to_one_plugin_and_back_by_keyboard(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6")
    page.keyboard.press("]")
    expect(page.get_by_label("point", exact=True)).to_be_checked()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    place = page.get_by_role("navigation", name="Where you are")
    expect(place).to_contain_text("Cycle 6")
    expect(place).to_contain_text("Filter")
    expect(place).to_contain_text("TaintToleration")
    expect(story(page)).to_contain_text("TaintToleration rejects")
    expect(page).to_have_url(re.compile(r"c=6&p=Filter&g=TaintToleration"))
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(place).not_to_contain_text("Filter")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_label("Go to cycle")).to_have_value("5")


def test_what_lies_ahead_is_not_given_away(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6&p=Filter&tab=score")
    expect(inspector(page)).to_contain_text("Score has not run yet at this point of the cycle.")
    expect(page.get_by_role("button", name=re.compile("^Score"))).to_contain_text("ahead")


def test_the_back_button_returns_to_where_one_was(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6")
    page.get_by_role("button", name=re.compile("^Filter")).click()
    page.keyboard.press("n")
    expect(page.get_by_label("Go to cycle")).to_have_value("7")
    page.go_back()
    expect(page.get_by_label("Go to cycle")).to_have_value("6")
    expect(page.get_by_role("navigation", name="Where you are")).to_contain_text("Filter")
    page.go_back()
    expect(page.get_by_role("navigation", name="Where you are")).not_to_contain_text("Filter")


def test_back_takes_back_tabs_steps_and_a_key_held_down(page: Page, clinic: str) -> None:
    explore(page, clinic)
    page.get_by_role("tab", name="Filter").click()
    page.evaluate("document.activeElement.blur()")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Go to cycle")).to_have_value("5")
    page.go_back()
    expect(page.get_by_label("Go to cycle")).to_have_value("1")
    expect(page.get_by_role("tab", name="Filter")).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(page.get_by_role("tab", name="Why")).to_have_attribute("aria-selected", "true")
    page.go_forward()
    expect(page.get_by_role("tab", name="Filter")).to_have_attribute("aria-selected", "true")


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
    edge.dblclick()
    expect(edge).to_have_attribute("aria-valuenow", str(round(before["width"])))


def test_plugins_that_skip_themselves_are_folded_away(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6&p=Filter")
    strip = page.get_by_role("region", name="Pipeline")
    expect(strip.get_by_role("button", name="VolumeZone")).to_have_count(0)
    strip.get_by_role("button", name=re.compile(r"^\d+ skipped")).click()
    expect(strip.get_by_role("button", name="VolumeZone")).to_be_visible()


def test_a_link_opens_the_same_view_elsewhere(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6")
    page.get_by_role("tab", name="Score").click()
    page.get_by_role("button", name=re.compile("^Score")).click()
    page.get_by_label("Group").select_option("pool")
    queues(page).get_by_role("button", name="clinic/train-1").click()
    expect(page).to_have_url(re.compile(r"c=6.*p=Score.*pod=clinic/train-1.*tab=score.*by=pool"))
    heard, *_ = told(page)
    page.goto(page.url)
    expect(story(page)).to_have_text(heard)
    expect(page.get_by_role("tab", name="Score")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_label("Group")).to_have_value("pool")
    expect(queues(page).get_by_role("button", name="clinic/train-1")).to_have_attribute(
        "aria-pressed", "true"
    )


# ---------------------------------------------------------------- what one wants to know


def test_why_a_pod_is_pending_and_on_how_many_nodes(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=11")
    queues(page).get_by_role("button", name="clinic/train-1").click()
    panel = inspector(page).get_by_role("tabpanel", name="Why")
    expect(panel.get_by_role("heading", name="From 5 nodes to 0")).to_be_visible()
    expect(panel.get_by_role("button", name=re.compile("NodeResourcesFit"))).to_be_visible()
    expect(panel).to_contain_text(re.compile(r"0/5 nodes are available: .*Insufficient nvidia"))
    expect(panel.get_by_role("heading", name="What happens next")).to_be_visible()
    expect(panel).to_contain_text("AssignedPodDelete")


def test_the_plugin_and_margin_that_won_or_that_it_was_a_tie(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6&tab=score")
    expect(story(page)).to_contain_text("tie at")
    table = inspector(page).get_by_role("table").first
    expect(table.get_by_role("row", name=re.compile("NodeResourcesFit"))).to_be_visible()
    expect(table.get_by_role("row", name=re.compile("^Total"))).to_be_visible()
    expect(inspector(page)).to_contain_text("2 of 2 nodes share the highest total")


def test_the_event_that_requeued_a_pod(page: Page, preemption: str) -> None:
    explore(page, preemption, "?c=1")
    queues(page).get_by_role("button", name="payments/authorize-0").click()
    page.keyboard.press(".")
    expect(page.get_by_label("Go to cycle")).not_to_have_value("1")
    while page.get_by_label("Go to cycle").input_value() != "4":
        page.keyboard.press(".")
    moves = inspector(page).get_by_role("listitem").filter(has_text="after AssignedPodDelete")
    expect(moves).to_contain_text("active")
    expect(moves).to_contain_text("NodeResourcesFit: Queue")


def test_a_preemption_is_read_in_three_acts(page: Page, preemption: str) -> None:
    explore(page, preemption, "?c=1&tab=preempt")
    expect(story(page)).to_contain_text("to make room")
    panel = inspector(page).get_by_role("tabpanel", name="Preempt")
    for act in ("1. On each node", "2. Choose among the candidates", "3. What follows"):
        expect(panel.get_by_role("heading", name=act)).to_be_visible()
    expect(panel).to_contain_text("may stay")
    criteria = panel.get_by_role("table")
    expect(criteria.get_by_role("columnheader", name="budgets broken")).to_be_visible()
    expect(criteria.get_by_role("row", name=re.compile("chosen.*node-5"))).to_be_visible()
    expect(panel.get_by_role("listitem").filter(has_text="is evicted")).to_contain_text(
        "batch/render-1"
    )
    panel.get_by_role("button", name="Next attempt: cycle 4").click()
    expect(page.get_by_label("Go to cycle")).to_have_value("4")


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


@pytest.mark.browser_context_args(viewport={"width": 390, "height": 844})
def test_a_narrow_screen_turns_to_the_map_for_what_plays_there(page: Page, preemption: str) -> None:
    explore(page, preemption, "?c=3&tab=preempt")
    regions = page.get_by_role("group", name="Region shown")
    shown = regions.get_by_role("button", name="Inspector")
    expect(shown).to_have_attribute("aria-pressed", "true")  # the address names one of its tabs
    inspector(page).get_by_role("button", name="Play on the map").first.click()
    expect(regions.get_by_role("button", name="Map")).to_have_attribute("aria-pressed", "true")


def other_than(before: bytes, now: bytes) -> bytes | None:
    return now if now != before else None


@pytest.mark.parametrize("size", [(1280, 720), (1440, 900), (1920, 1080)])
def test_the_criterion_that_decided_is_in_sight(
    page: Page, preemption: str, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    explore(page, preemption, "?c=1&tab=preempt")
    panel = inspector(page).get_by_role("tabpanel", name="Preempt")
    expect(panel).to_contain_text("Latest start decided: 09:00:00 on node-5, 08:30:00 elsewhere.")
    head = panel.get_by_role("columnheader", name="latest start")
    column, inside = head.bounding_box(), panel.bounding_box()
    assert column is not None
    assert inside is not None
    assert column["x"] + column["width"] <= inside["x"] + inside["width"]
    tops = {
        box["y"]
        for box in map(Locator.bounding_box, inspector(page).get_by_role("tab").all())
        if box
    }
    assert len(tops) == 1, "the tabs stand on one line"


def test_the_plugin_that_preempts_says_what_it_did(page: Page, preemption: str) -> None:
    explore(page, preemption, "?c=1&p=PostFilter&g=DefaultPreemption")
    expect(story(page)).to_have_text(
        "DefaultPreemption nominates node-5 for payments/authorize-0, "
        "and evicts 1 pod there to make room."
    )


# ---------------------------------------------------------------- map, tables, finding


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


def test_one_verdict_can_be_isolated(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=6")
    page.get_by_role("button", name=re.compile("^rejected")).click()
    page.get_by_role("button", name="Show as a table").click()
    expect(page.get_by_role("table", name="Nodes").get_by_role("row")).to_have_count(4)


def test_anything_is_found_by_typing(page: Page, clinic: str) -> None:
    explore(page, clinic)
    page.keyboard.press("Control+k")
    page.get_by_label("Find a pod, node, cycle or command").fill("worker-2")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("n=worker-2"))
    page.keyboard.press("/")
    page.get_by_label("Find a pod, node, cycle or command").fill("list of")
    page.keyboard.press("Enter")
    cycles = page.get_by_role("table", name="Cycles of the run")
    cycles.get_by_role("row", name=re.compile("^9 ")).click()
    expect(page.get_by_label("Go to cycle")).to_have_value("9")


def test_the_help_lists_every_key_and_single_keys_can_be_switched_off(
    page: Page, clinic: str
) -> None:
    explore(page, clinic)
    page.keyboard.press("?")
    help_page = page.get_by_role("dialog", name="Keys and signs")
    for words in ("Step forward", "Next failure", "Map as a table", "not evaluated"):
        expect(help_page).to_contain_text(words)
    help_page.get_by_label("Use keys without Ctrl or Alt").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.get_by_role("table", name="Nodes")).to_be_hidden()


def test_bookmarks_keep_a_place_and_a_note(page: Page, clinic: str) -> None:
    explore(page, clinic, "?c=4")
    page.keyboard.press("m")
    page.get_by_label("Note").fill("taints")
    page.get_by_role("button", name="Save").click()
    explore(page, clinic, "?c=4")
    page.keyboard.press("m")
    expect(page.get_by_role("dialog", name=re.compile("Bookmark"))).to_contain_text("Cycle 4")
    expect(page.get_by_label("Note")).to_have_value("taints")


# ---------------------------------------------------------------- everybody can use it


@pytest.mark.parametrize("size", SIZES)
def test_nothing_sticks_out_sideways(page: Page, clinic: str, size: str) -> None:
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    explore(page, clinic, "?c=6&p=Filter&g=TaintToleration")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width < 900:
        page.get_by_role("button", name="Inspector").click()
        expect(inspector(page).get_by_role("tab", name="Why")).to_be_visible()
        expect(queues(page)).to_be_hidden()


def test_a_lost_connection_is_picked_up_again(page: Page, clinic: str) -> None:
    page.route_web_socket(re.compile("/ws/runs/"), lambda socket: socket.close())
    page.goto(f"/runs/{clinic}/explore")
    expect(page.get_by_text("Reconnecting")).to_be_visible()
    page.unroute_all()


def test_verdicts_that_cannot_be_loaded_can_be_tried_again(page: Page, clinic: str) -> None:
    is_there = False

    def carry(line: WebSocketRoute) -> None:
        server = line.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            wanted = json.loads(message).get("details", [])
            if is_there or not wanted:
                server.send(message)
            for cycle in [] if is_there else wanted:
                line.send(json.dumps({"type": "missing", "cycle": cycle}))

        line.on_message(pass_on)

    page.route_web_socket(re.compile("/ws/runs/"), carry)
    explore(page, clinic, "?c=6")
    retry = page.get_by_role("button", name="Try again").first
    expect(retry).to_be_visible()
    is_there = True
    retry.click()
    expect(page.get_by_role("button", name=re.compile("^fits"))).to_be_visible()
