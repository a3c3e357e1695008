"""Writing a configuration and a scenario: what is offered, what is marked, what is drawn."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.axe import serious_findings
from tests.e2e.conftest import Api
from tests.waiting import eventually

BUILT = Path(__file__).parents[2] / "static" / "kviz"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c}]}
"""


def editor(page: Page, name: str) -> Locator:
    """The editor that has taken the place of a text area."""
    return page.locator(".cm-content").and_(page.get_by_label(name))


def unfold(page: Page, name: str) -> None:
    """Open a part of the form of a new run."""
    page.locator("summary").filter(has_text=name).first.click()


def test_a_key_is_offered_and_a_mistake_is_marked(page: Page) -> None:
    page.goto("/runs/new?preset=bin-packing")
    config = editor(page, "Scheduler configuration")
    config.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("  percen")
    option = page.get_by_role("option", name=re.compile("percentageOfNodesToScore"))
    option.click()
    expect(config).to_contain_text("percentageOfNodesToScore:")
    page.keyboard.type("lots")
    mark = page.locator(".cm-lint-marker-error")
    expect(mark).to_have_count(1)
    page.keyboard.press("Control+Shift+ArrowLeft")
    page.keyboard.type("50")
    expect(mark).to_have_count(0)
    assert page.locator("#scheduler_config").input_value().endswith("percentageOfNodesToScore: 50")


def test_steps_are_added_and_drawn_on_the_axis_of_time(page: Page) -> None:
    page.goto("/runs/new")
    unfold(page, "Scenario")
    expect(editor(page, "Scenario")).to_be_visible()
    page.get_by_label("Add a step").select_option("Drain a node")
    page.get_by_label("Add a step").select_option("Make a node schedulable again")
    steps = page.get_by_role("list", name="Steps").get_by_role("listitem")
    expect(steps).to_have_text([re.compile("10s.*drain node NODE"), re.compile("5m.*uncordon")])
    steps.nth(1).get_by_role("button").click()
    expect(editor(page, "Scenario")).to_be_focused()
    assert serious_findings(page) == []


def test_what_is_written_is_what_is_run(page: Page) -> None:
    page.goto("/runs/new")
    page.get_by_label("Cluster").select_option(label="Taints and tolerations (sample)")
    unfold(page, "Scheduler configuration")
    page.get_by_role("link", name=re.compile("No preemption")).click()
    expect(editor(page, "Scheduler configuration")).to_contain_text("DefaultPreemption")
    page.get_by_role("button", name="Run the scheduler").click()
    expect(page).to_have_url(re.compile("/runs/[0-9a-f-]{36}$"))
    page.goto(page.url.replace("/runs/", "/runs/new?from="))
    expect(editor(page, "Scheduler configuration")).to_contain_text("DefaultPreemption")


def test_the_usual_run_needs_no_scrolling_and_what_is_folded_says_what_it_holds(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto("/runs/new")
    run = page.get_by_role("button", name="Run the scheduler")
    assert page.evaluate("document.querySelector('.run-form').getBoundingClientRect().bottom") < 720
    release, config, scenario, settings = (page.locator(".fold > summary").nth(i) for i in range(4))
    expect(release).to_contain_text("auto: as the cluster says")
    expect(config).to_contain_text("Default profile")
    expect(scenario).to_contain_text("none")
    expect(settings).to_contain_text("all at their defaults")
    config.click()
    page.get_by_role("link", name=re.compile("Pack nodes tightly")).click()
    expect(run).to_be_in_viewport(ratio=1)
    config.click()
    expect(editor(page, "Scheduler configuration")).to_be_hidden()
    expect(config).to_contain_text("Pack nodes tightly")
    scenario.click()
    page.get_by_label("Add a step").select_option("Drain a node")
    expect(scenario).to_contain_text("custom scenario")
    settings.click()
    page.get_by_label("Order of pending pods").select_option(index=1)
    expect(settings).to_contain_text("changed: Order of pending pods")
    expect(run).to_be_in_viewport(ratio=1)
    assert serious_findings(page) == []


def test_what_was_typed_outlives_its_tab_until_it_is_sent(page: Page, api: Api) -> None:
    address = f"/runs/new?snapshot={api.sample('taints-and-tolerations')}"
    text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration"
    first = page
    restored = "Restored what you typed here earlier."
    page.goto(address)
    unfold(page, "Scheduler configuration")
    editor(page, "Scheduler configuration").fill(text)
    unfold(page, "More settings")
    page.get_by_label("Among equal nodes").select_option("draw")
    page.get_by_label("Seed").fill("7")
    kept = "Object.values(localStorage).some((each) => JSON.parse(each).fields?.seed === '7')"
    eventually(lambda: first.evaluate(kept))
    first.close()

    page = first.context.new_page()
    page.goto("/runs/new")
    expect(editor(page, "Scheduler configuration")).not_to_contain_text("kubescheduler")
    expect(page.get_by_text(restored)).to_be_hidden()
    reopened = page  # in a process of its own, which hears of what is stored a little later
    eventually(lambda: reopened.evaluate(kept))
    page.goto(address)
    expect(page.get_by_text(restored)).to_be_visible()
    assert serious_findings(page) == []
    expect(editor(page, "Scheduler configuration")).to_contain_text("kubescheduler")
    expect(page.get_by_label("Seed")).to_have_value("7")
    page.get_by_role("button", name="Start over").click()
    expect(editor(page, "Scheduler configuration")).not_to_contain_text("kubescheduler")
    page.reload()
    expect(page.get_by_text(restored)).to_be_hidden()

    unfold(page, "Scheduler configuration")
    editor(page, "Scheduler configuration").fill("nonsense: 1")
    with page.expect_navigation():
        page.get_by_role("button", name="Run the scheduler").click()
    expect(page.get_by_role("alert")).to_contain_text("missing")
    assert serious_findings(page) == []
    page.goto(address)
    expect(page.get_by_text(restored)).to_be_visible()
    editor(page, "Scheduler configuration").fill(text)
    page.get_by_role("button", name="Run the scheduler").click()
    expect(page).to_have_url(re.compile("/runs/[0-9a-f-]{36}$"))
    page.goto(address)
    expect(editor(page, "Scheduler configuration")).not_to_contain_text("kubescheduler")
    expect(page.get_by_text(restored)).to_be_hidden()


def test_what_is_typed_before_the_editor_comes_goes_on_in_it(page: Page) -> None:
    manifest = json.loads((BUILT / "manifest.json").read_text(encoding="utf-8"))
    chunk = f"**/{manifest['src/views/editor/Editor.svelte']['file']}"
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(chunk, hold)
    with page.expect_request(chunk):
        page.goto("/snapshots/new", wait_until="commit")
    area = page.get_by_label("Or paste it")
    area.click()
    page.keyboard.type("kind: Podmetadata:")
    for _ in "metadata:":
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    held.pop().continue_()
    pasted = editor(page, "Or paste it")
    expect(pasted).to_be_focused()
    page.keyboard.type("D")
    page.keyboard.press("Enter")
    expect(pasted).to_contain_text("kind: PoD")
    text = page.locator("#text")
    assert text.input_value() == "kind: PoD\nmetadata:"
    pasted.fill(POD)
    page.unroute(chunk)
    page.reload()
    expect(editor(page, "Or paste it")).to_contain_text("name: web")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="0 nodes, 1 pod", level=1)).to_be_visible()
    page.goto("/snapshots/new")
    expect(editor(page, "Or paste it")).not_to_contain_text("name: web")


def test_pasted_objects_are_offered_fields_and_marked(page: Page) -> None:
    page.goto("/snapshots/new")
    pasted = editor(page, "Or paste it")
    pasted.fill("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n")
    page.keyboard.press("Control+End")
    page.keyboard.type("  schedulerN")
    page.get_by_role("option", name=re.compile("schedulerName")).click()
    expect(pasted).to_contain_text("schedulerName:")
    page.keyboard.type("[]")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
