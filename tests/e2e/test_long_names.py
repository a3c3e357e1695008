"""Names as cloud providers and Helm make them: told apart wherever they stand."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Api
from tests.e2e.test_explorer import explore, inspector, story

DOMAIN = ".eu-west-1.compute.internal"
LONG = "workers-of-a-pool-with-a-name-that-a-provider-made-of-region-and-hash-"


def cluster(names: list[str], pod: str) -> str:
    nodes = "".join(
        f"---\n{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}, "
        "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}\n"
        for name in names
    )
    requests = "{requests: {cpu: 1, memory: 1Gi}}"
    return (
        f"{nodes}---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {pod}, namespace: shop}}, "
        f"spec: {{containers: [{{name: c, resources: {requests}}}]}}}}\n"
    )


def test_nodes_of_one_domain_are_told_apart_in_narrow_tables(page: Page, api: Api) -> None:
    names = [f"ip-10-0-0-{i}{DOMAIN}" for i in (1, 2)]
    explore(page, api.finished_run(api.upload(cluster(names, "web"))), "?c=1")
    for tab in ("Filter", "Score"):
        page.get_by_role("tab", name=tab).click()
        for name in names:
            cell = inspector(page).get_by_role("row").get_by_role("button", name=name, exact=True)
            expect(cell).to_have_text(name.removesuffix(DOMAIN))


def test_long_names_leave_the_story_whole_and_its_end_in_sight(page: Page, api: Api) -> None:
    names = [f"{LONG}{i}" for i in (1, 2)]
    run = api.finished_run(api.upload(cluster(names, "web-" + "very-long-" * 12 + "0")))
    explore(page, run, "?c=1&tab=filter")
    told = story(page)
    expect(told.get_by_role("button", name=names[0], exact=True)).to_be_visible()
    assert told.evaluate("story => story.scrollHeight <= story.clientHeight + 1")
    row = inspector(page).get_by_role("row").get_by_role("button", name=names[1], exact=True)
    end = row.locator(".end")
    expect(end).to_have_text(names[1][-9:])
    assert end.evaluate("e => e.getBoundingClientRect().right") <= row.evaluate(
        "e => e.parentElement.getBoundingClientRect().right"
    )
