"""A lesson's own pages: what arrives while somebody types does not take it away."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Page, Route, expect

LESSON = "/learn/what-is-a-node"
MANIFEST = Path(__file__).parents[2] / "static/kviz/manifest.json"


def test_what_is_typed_while_the_scheduler_works_stays(page: Page) -> None:
    page.goto(LESSON)
    page.get_by_role("button", name=re.compile("Begin")).first.click()
    for title in ("A pod asks", "Almost enough", "Let it in"):
        page.get_by_role("button", name=re.compile("Next step|Skip")).click()
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    step, held, is_held = page.url, list[Route](), True
    script = "/static/kviz/" + json.loads(MANIFEST.read_bytes())["src/pages/lesson.ts"]["file"]

    def waiting(route: Route) -> None:
        if route.request.resource_type != "document":
            held.append(route) if is_held else route.continue_()
            return
        answer = route.fetch()
        box = f'<div data-waits="{LESSON}/4"><p>The scheduler is at work.</p></div></article>'
        body = answer.text().replace("</article>", box)
        if script not in body:
            body = body.replace("</head>", f'<script type="module" src="{script}"></script></head>')
        route.fulfill(response=answer, body=body)

    page.route(step, waiting)
    with page.expect_request(lambda request: request.resource_type == "fetch"):
        page.reload()
    expect(page.get_by_text("The scheduler is at work.")).to_be_visible()
    typed = "pod/default/exact set spec.containers[0].resources.requests.cpu=7"
    page.get_by_text("Write changes as lines").click()
    field = page.get_by_label("One change, as a line")
    field.fill(typed)
    is_held = False
    for route in held:
        route.continue_()
    expect(page.get_by_text("The scheduler is at work.")).to_be_hidden()
    expect(field).to_have_value(typed)
    expect(field).to_be_focused()
    page.unroute(step)
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_text("It works")).to_be_visible()


def test_a_table_of_a_lesson_fits_a_narrow_screen(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto("/learn/scores")
    page.get_by_role("button", name=re.compile("Begin")).first.click()
    page.get_by_role("button", name=re.compile("Next step|Skip")).click()
    expect(page.get_by_role("cell", name="NodeResourcesBalancedAllocation")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
